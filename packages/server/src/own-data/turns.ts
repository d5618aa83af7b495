/** Runs work when its turn comes. */
export type TakeTurn = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** At most `max` pieces of work run at a time; others wait in order. */
export function createTurns(max: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async (work) => {
    if (active >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else active += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else active -= 1;
    }
  };
}

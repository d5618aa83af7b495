import type { Step } from "../effect.ts";

/** At most `most` tool calls at once; the others begin in call order as places become free. */
export function limited(step: Step, most: number): Step {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (effect, signal) => {
    if (effect.type !== "tool") return step(effect, signal);
    if (running < most) running += 1;
    else await new Promise<void>((begin) => queue.push(begin));
    try {
      return await step(effect, signal);
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

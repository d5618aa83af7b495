/** What was typed and is not dealt with yet. */
export interface LineQueue {
  put(line: string): void;
  next(): Promise<string>;
}

/** A queue for one reader. */
export function lineQueue(): LineQueue {
  const waiting: string[] = [];
  let bell = Promise.withResolvers<void>();
  return {
    put(line) {
      waiting.push(line);
      bell.resolve();
    },
    async next() {
      while (waiting.length === 0) {
        bell = Promise.withResolvers();
        await bell.promise;
      }
      return waiting.shift() ?? "";
    },
  };
}

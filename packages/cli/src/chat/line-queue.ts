/** What was typed and is not dealt with yet. */
export interface LineQueue {
  add(line: string): void;
  take(): Promise<string>;
}

/** A queue for one reader. */
export function createLineQueue(): LineQueue {
  const waiting: string[] = [];
  let bell = Promise.withResolvers<void>();
  return {
    add(line) {
      waiting.push(line);
      bell.resolve();
    },
    async take() {
      while (waiting.length === 0) {
        bell = Promise.withResolvers();
        await bell.promise;
      }
      return waiting.shift() ?? "";
    },
  };
}

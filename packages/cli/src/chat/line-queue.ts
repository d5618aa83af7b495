/** Submitted lines that are not processed yet. */
export interface LineQueue {
  add(line: string): void;
  take(): Promise<string>;
}

/** Creates a queue for a single reader. */
export function createLineQueue(): LineQueue {
  const waiting: string[] = [];
  let added = Promise.withResolvers<void>();
  return {
    add(line) {
      waiting.push(line);
      added.resolve();
    },
    async take() {
      while (waiting.length === 0) {
        added = Promise.withResolvers();
        await added.promise;
      }
      return waiting.shift() ?? "";
    },
  };
}

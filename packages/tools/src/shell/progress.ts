import type { ToolContext } from "capstan";

const flushEveryMs = 100;
const maxCharacters = 4_000;

/** Reports output in pieces of the last characters, so that a fast command does not flood the readers of a run. */
export function createProgress(progress: ToolContext["progress"]): {
  add(chunk: Buffer): void;
  close(): void;
} {
  const decoder = new TextDecoder();
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    if (text !== "") progress({ message: text.trimEnd().split("\n").at(-1) ?? "", output: text });
    text = "";
  };
  return {
    add(chunk) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-maxCharacters);
      timer ??= setTimeout(flush, flushEveryMs);
    },
    close() {
      clearTimeout(timer);
      flush();
    },
  };
}

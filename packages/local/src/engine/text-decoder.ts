import type { LlamaModel, Token } from "node-llama-cpp";

/** Turns tokens into text. A character may take several tokens, so incomplete ones are held back. */
export type TextDecoder = { push(token: Token): string; end(): string };

/** A character has up to four bytes, and a token may be one byte. */
const maxPending = 4;
const maxContext = 8;

export function createTextDecoder(model: LlamaModel): TextDecoder {
  let done: Token[] = [];
  let pending: Token[] = [];
  const flush = (text: string): string => {
    done = [...done, ...pending].slice(-maxContext);
    pending = [];
    return text;
  };
  return {
    push(token) {
      pending.push(token);
      const text = model.detokenize(pending, true, done);
      return text.endsWith("\uFFFD") && pending.length < maxPending ? "" : flush(text);
    },
    end: () => (pending.length > 0 ? flush(model.detokenize(pending, true, done)) : ""),
  };
}

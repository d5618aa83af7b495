// llama.cpp checks grammars by code points and accepts encodings of them that are not valid UTF-8: overlong forms,
// surrogates. They would become characters that the grammar does not allow, so such tokens are excluded.
import type { LlamaModel, Token, TokenBias } from "node-llama-cpp";
import type { Library } from "./load-library.ts";

export type Utf8Guard = {
  /** Notes a generated token. */
  accept(token: Token): void;
  /** The tokens that cannot follow. */
  getBias(): TokenBias;
};

/** First bytes that are never part of UTF-8. */
const isNeverValid = (byte: number): boolean => byte === 0xc0 || byte === 0xc1 || byte > 0xf4;
/** Second bytes that are not valid after some first bytes. */
const invalidSecond: { readonly [first: number]: (byte: number) => boolean } = {
  224: (byte) => byte < 0xa0,
  237: (byte) => byte >= 0xa0,
  240: (byte) => byte < 0x90,
  244: (byte) => byte >= 0x90,
};

/** Creates guards for a model. `texts` are its tokens as the file has them. */
export function createUtf8Guards(
  library: Library,
  model: LlamaModel,
  texts: readonly string[],
): () => Utf8Guard {
  const decode = createByteDecoder(texts);
  const edges = texts.map((text) => decode(text));
  const createBias = (isBanned: (bytes: readonly number[]) => boolean): TokenBias => {
    const bias = new library.TokenBias(model.tokenizer);
    for (const [id, bytes] of edges.entries())
      if (bytes.some(isNeverValid) || isBanned(bytes)) bias.set(id as Token, "never");
    return bias;
  };
  const biases = new Map<number, TokenBias>([[0, createBias(() => false)]]);
  for (const [first, isInvalid] of Object.entries(invalidSecond))
    biases.set(
      Number(first),
      createBias(([byte = 0]) => byte >= 0x80 && byte < 0xc0 && isInvalid(byte)),
    );
  return () => {
    let last = 0;
    return {
      accept(token) {
        last = edges[token]?.at(-1) ?? 0;
      },
      getBias: () => biases.get(last) ?? (biases.get(0) as TokenBias),
    };
  };
}

/** Returns the bytes of tokens that are not whole characters: the first and the last decide. */
function createByteDecoder(texts: readonly string[]): (text: string) => readonly number[] {
  const isSentencePiece = texts.includes("<0x0A>");
  const bytes = new Map<string, number>();
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes.set(String.fromCharCode(isPrintable ? byte : next++), byte);
  }
  return (text) => {
    const hex = /^<0x([0-9A-F]{2})>$/.exec(text)?.[1];
    if (isSentencePiece) return hex ? [Number.parseInt(hex, 16)] : [];
    const decoded = [...text].map((character) => bytes.get(character));
    return decoded.every((byte) => byte !== undefined) ? decoded : [];
  };
}

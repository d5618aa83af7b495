// A byte-level BPE vocabulary, as GPT-2, Llama 3 and Qwen have it: 256 bytes, then merges learned from a text.

/** Tokens in the order of their ids, and the merges that form them. */
export type Vocabulary = { readonly tokens: readonly string[]; readonly merges: readonly string[] };

/** GPT-2 writes each byte as a printable character: printable bytes as themselves, the others from U+0100 on. */
function createByteAlphabet(): readonly string[] {
  const isPrintable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
}

/** Learns merges from the text: the most frequent pair first. */
export function trainVocabulary(text: string, mergeCount: number): Vocabulary {
  const alphabet = createByteAlphabet();
  const words = (text.match(/\s?\S+/g) ?? []).map((word) =>
    [...Buffer.from(word)].map((byte) => alphabet[byte] ?? ""),
  );
  const merges: string[] = [];
  while (merges.length < mergeCount) {
    const pair = findFrequentPair(words);
    if (!pair) break;
    merges.push(pair.join(" "));
    for (const word of words) mergePair(word, pair);
  }
  return { tokens: [...alphabet, ...merges.map((merge) => merge.replace(" ", ""))], merges };
}

function findFrequentPair(words: readonly (readonly string[])[]): readonly [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const word of words)
    for (let index = 1; index < word.length; index++) {
      const pair = `${word[index - 1]} ${word[index]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  const [left, right] = best?.[0].split(" ") ?? [];
  return left !== undefined && right !== undefined ? [left, right] : undefined;
}

function mergePair(word: string[], [left, right]: readonly [string, string]): void {
  for (let index = 1; index < word.length; index++)
    if (word[index - 1] === left && word[index] === right) word.splice(index - 1, 2, left + right);
}

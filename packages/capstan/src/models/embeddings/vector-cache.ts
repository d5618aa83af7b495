import type { EmbedOptions, Vector, VectorCache } from "../../kernel/model.ts";

/** Identifies a vector by what it depends on: the model, the options and the text. */
export async function computeVectorKey(
  model: string,
  text: string,
  { dimensions, kind }: Pick<EmbedOptions, "dimensions" | "kind">,
): Promise<string> {
  const subject = JSON.stringify([model, dimensions ?? null, kind ?? null, text]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** About 16 MB. */
const defaultMaxNumbers = 2_000_000;

/** Keeps the vectors that were used last in memory. `maxNumbers` limits the sum of their lengths. */
export function memoryVectorCache(maxNumbers: number = defaultMaxNumbers): VectorCache {
  const vectors = new Map<string, Vector>();
  let numbers = 0;
  function remove(key: string): Vector | undefined {
    const vector = vectors.get(key);
    if (vector && vectors.delete(key)) numbers -= vector.length;
    return vector;
  }
  function add(key: string, vector: Vector): void {
    vectors.set(key, vector);
    numbers += vector.length;
  }
  return {
    get: (keys) =>
      keys.map((key) => {
        const vector = remove(key);
        if (vector) add(key, vector); // now the newest
        return vector;
      }),
    set(entries) {
      for (const [key, vector] of entries) {
        remove(key);
        add(key, vector);
      }
      for (const key of vectors.keys()) {
        if (numbers <= maxNumbers) return;
        remove(key);
      }
    },
  };
}

/** Used by every client of the process, unless the caller passes another cache. */
export const sharedCache: VectorCache = memoryVectorCache();

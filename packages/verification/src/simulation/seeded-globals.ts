import { createHash } from "node:crypto";
import type { World } from "./world.ts";

/**
 * Runs the work with timers, random numbers, ids and digests that are derived from the seed: retry jitter affects timing,
 * and Web Crypto digests complete at unpredictable times. The work must not wait for anything outside its world, so that
 * no other code sees the replaced globals.
 */
export async function withSeededGlobals<Value>(world: World, work: () => Promise<Value>): Promise<Value> {
  const { scheduler } = world;
  let ids = 0;
  const seeded: { readonly [name: string]: unknown } = {
    crypto: {
      subtle: { digest: async (_: string, bytes: Uint8Array) => computeSha256(bytes) },
      randomUUID: () => `${++ids}`,
    },
    setTimeout: (fire: () => void, ms: number) => ({ cancel: scheduler.after(ms, fire) }),
    clearTimeout: (timer: { cancel(): void } | undefined) => timer?.cancel(),
  };
  const originalRandom = Math.random;
  const originals = Object.keys(seeded).map((name) => [name, Reflect.get(globalThis, name)] as const);
  const set = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  Math.random = world.random.next;
  for (const [name, value] of Object.entries(seeded)) set(name, value);
  try {
    return await work();
  } finally {
    Math.random = originalRandom;
    for (const [name, value] of originals) set(name, value);
  }
}

function computeSha256(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(createHash("sha256").update(bytes).digest()).buffer;
}

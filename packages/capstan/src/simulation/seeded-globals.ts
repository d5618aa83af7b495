import { createHash } from "node:crypto";
import type { World } from "./world.ts";

/**
 * Runs the work with timers, chance, ids and digests that follow from the seed alone: the jitter of retries decides about
 * time, and a digest of Web Crypto is ready whenever a thread is. The work must not wait for anything outside of its
 * world, so that nobody else ever sees them.
 */
export async function withSeededGlobals<Value>(world: World, work: () => Promise<Value>): Promise<Value> {
  const { chance, scheduler } = world;
  let ids = 0;
  const seeded: { readonly [name: string]: unknown } = {
    crypto: {
      subtle: { digest: async (_: string, bytes: Uint8Array) => sha256(bytes) },
      randomUUID: () => `${++ids}`,
    },
    setTimeout: (fire: () => void, ms: number) => ({ cancel: scheduler.after(ms, fire) }),
    clearTimeout: (timer: { cancel(): void } | undefined) => timer?.cancel(),
  };
  const { random } = Math;
  const kept = Object.keys(seeded).map((name) => [name, Reflect.get(globalThis, name)] as const);
  const set = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  Math.random = chance.next;
  for (const [name, value] of Object.entries(seeded)) set(name, value);
  try {
    return await work();
  } finally {
    Math.random = random;
    for (const [name, value] of kept) set(name, value);
  }
}

function sha256(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(createHash("sha256").update(bytes).digest()).buffer;
}

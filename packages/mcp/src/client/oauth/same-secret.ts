import { createHash, timingSafeEqual } from "node:crypto";

/** Compares without telling by its duration how much is equal. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

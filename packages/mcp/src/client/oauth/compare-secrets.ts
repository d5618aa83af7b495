import { createHash, timingSafeEqual } from "node:crypto";

/** Compares in constant time. */
export function areSecretsEqual(left: string, right: string): boolean {
  return timingSafeEqual(hashSecret(left), hashSecret(right));
}

function hashSecret(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

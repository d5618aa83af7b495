import { createHash } from "node:crypto";

/** Returns the SHA-256 of a text or of bytes. */
export function computeSha256(content: string | Uint8Array, encoding: "hex" | "base64" = "hex"): string {
  return createHash("sha256").update(content).digest(encoding);
}

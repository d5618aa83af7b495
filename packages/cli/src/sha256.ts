/** The SHA-256 of a text or of bytes. */
export function computeSha256(content: string | Uint8Array, encoding: "hex" | "base64" = "hex"): string {
  // Not imported: an `import` of this module resolves all of its exports, which takes Node 6 ms.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(content).digest(encoding);
}

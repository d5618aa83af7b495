import { detectEncoding } from "../../../import/detect-encoding.ts";

/** Decodes a text in the encoding that it seems to have. Throws for binary data. */
export function decodeText(bytes: Uint8Array): string {
  const encoding = detectEncoding(bytes);
  if (!encoding.startsWith("utf-16") && bytes.includes(0)) throw new Error("It is not a text file.");
  return new TextDecoder(encoding).decode(bytes);
}

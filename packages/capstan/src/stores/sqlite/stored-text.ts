/**
 * Encodes a text for SQLite. UTF-8 cannot encode lone surrogates, and NUL ends a text for some readers, so such text is
 * stored as JSON, which escapes both. The leading quote marks JSON, so that different texts stay different.
 */
export function encodeText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes("\u0000") && !text.startsWith('"');
  return isPlain ? text : JSON.stringify(text);
}

/** Decodes a text from `encodeText`. */
export function fromStoredText(stored: string): string {
  return stored.startsWith('"') ? JSON.parse(stored) : stored;
}

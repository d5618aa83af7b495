/**
 * Text as SQLite can keep it. UTF-8 has no halves of characters, and NUL ends a text for some readers; such text is
 * kept as JSON, which escapes both. The quote at the beginning tells the two apart, so no two texts are kept alike.
 */
export function toStored(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes("\u0000") && !text.startsWith('"');
  return isPlain ? text : JSON.stringify(text);
}

/** The text that was stored. */
export function fromStored(stored: string): string {
  return stored.startsWith('"') ? JSON.parse(stored) : stored;
}

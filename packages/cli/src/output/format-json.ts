/**
 * Formats a value as one line of JSON, including the line break. Escapes the characters that some readers treat as line
 * breaks and terminals as controls; `JSON.stringify` already escapes lone surrogates.
 */
export function formatJsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}

/** Formats a value as indented JSON. */
export function formatJson(value: unknown): string {
  return `${escapeControls(JSON.stringify(value, undefined, 2))}\n`;
}

const escapeControls = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/**
 * A value as JSON in one line with its line end. Characters that some readers take for the end of a line, or a terminal
 * for a command, are written as escapes; half a surrogate pair is one already.
 */
export function formatJsonLine(value: unknown): string {
  return `${escapeControls(JSON.stringify(value))}\n`;
}

/** Several lines, for people. */
export function formatJson(value: unknown): string {
  return `${escapeControls(JSON.stringify(value, undefined, 2))}\n`;
}

const escapeControls = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/**
 * A value as JSON in one line with its line end. Characters that some readers take for the end of a line, or a terminal
 * for a command, are written as escapes; half a surrogate pair is one already.
 */
export function jsonLine(value: unknown): string {
  return `${withoutUnseen(JSON.stringify(value))}\n`;
}

/** Several lines, for people. */
export function jsonText(value: unknown): string {
  return `${withoutUnseen(JSON.stringify(value, undefined, 2))}\n`;
}

const withoutUnseen = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Formats a tool call in the text dialect. */
export function formatTextCall(name: string, input: object): string {
  return `TOOL_CALL: ${name}\nARGUMENTS: ${JSON.stringify(input, undefined, 2)}`;
}

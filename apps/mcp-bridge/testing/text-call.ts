/** A call as a model without calls of its own writes it. */
export function textCall(name: string, input: object): string {
  return `TOOL_CALL: ${name}\nARGUMENTS: ${JSON.stringify(input, undefined, 2)}`;
}

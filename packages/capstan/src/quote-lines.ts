/** Marks every line of a text, so that no line can imitate the end of the block and continue as another speaker. */
export function quoteLines(heading: string, text: string): string {
  return [heading, ...text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => lineMark + line)].join("\n");
}

export const lineMark = "> ";

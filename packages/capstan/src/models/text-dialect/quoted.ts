/** At the beginning of a line, also behind what is not seen or only makes them bold. */
const markers = /^(?=(?:[^\S\r\n\u2028\u2029]|[\p{Cf}*_`])*TOOL_(?:RESULT|CALL)[*_`]*[^\S\r\n]*:)/gimu;

/** A page or a person may write our markers, to be taken for a tool: they become a quotation. */
export function quoted(text: string): string {
  return text.replace(markers, "> ");
}

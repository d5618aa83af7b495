import type { MaskedStream } from "./mask-secrets.ts";

/** How this library says that it has cut a text. */
const mark = /\n?…(?: \([^()]*\))?$/;

/** Whether the text says so of itself. */
export function isMarkedCut(text: string): boolean {
  return (text.endsWith("…") || text.endsWith(")")) && mark.test(text);
}

/** What to look for: the forms of all secrets, and the shortest beginning of one that counts. */
export type CutForms = { readonly forms: readonly string[]; readonly shortest: number };

/**
 * Masks a text that may have been cut, perhaps in the middle of a secret: half of one or more at the end is masked,
 * too. Less of it is left alone, so that what is unknown of a secret is always more than half.
 */
export function maskCut(text: string, stream: MaskedStream, { forms, shortest }: CutForms): string {
  const shown = stream.push(text) + stream.end();
  const said = isMarkedCut(shown) ? shown.replace(mark, "") : shown;
  const before = stream.push(said);
  const rest = stream.end();
  const isHalf = (form: string) => form.startsWith(rest) && rest.length * 2 >= form.length;
  const end = rest.length >= shortest && forms.some(isHalf) ? "***" : rest;
  return `${before}${end}${shown.slice(said.length)}`;
}

import { buildSections } from "./build-sections.ts";
import { decodeText } from "./decode-text.ts";
import type { ParsedDocument } from "./parsed-document.ts";

/** Splits a plain text at empty lines. */
export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const blocks = splitParagraphs(decodeText(bytes));
  return { sections: buildSections([{ heading: "", blocks }], { isLinkedByText: true }) };
}

export function splitParagraphs(text: string): readonly string[] {
  return text
    .split(/\r?\n[^\S\n]*\r?\n/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

import { buildSections } from "./build-sections.ts";
import type { ParsedDocument } from "./parsed-document.ts";
import { readText } from "./read-text.ts";

/** Splits a plain text at empty lines. */
export async function parse(path: string): Promise<ParsedDocument> {
  const blocks = splitParagraphs(await readText(path));
  return { sections: buildSections([{ heading: "", blocks }], { isLinkedByText: true }) };
}

export function splitParagraphs(text: string): readonly string[] {
  return text
    .split(/\r?\n[^\S\n]*\r?\n/)
    .map((block) => block.trim())
    .filter((block) => block !== "");
}

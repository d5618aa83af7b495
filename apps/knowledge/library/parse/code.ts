import { buildSections, type Chapter } from "./build-sections.ts";
import { decodeText } from "./decode-text.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const minLength = 600;
const maxLength = 1400;

/** Splits source code between top-level definitions: before a line that is not indented and follows an empty one. */
export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const chapters: Chapter[] = [];
  let lines: string[] = [];
  let length = 0;
  const close = (end: number) => {
    const text = lines.join("\n").trimEnd();
    if (text.trim() !== "")
      chapters.push({ heading: `Lines ${end - lines.length + 1}–${end}`, blocks: [text] });
    lines = [];
    length = 0;
  };
  const all = decodeText(bytes).split(/\r?\n/);
  for (const [index, line] of all.entries()) {
    const startsDefinition = /^\S/.test(line) && all[index - 1]?.trim() === "";
    if ((startsDefinition && length > minLength) || length + line.length > maxLength) close(index);
    lines.push(line);
    length += line.length + 1;
  }
  close(all.length);
  return { sections: buildSections(chapters, { isLinkedByText: true }) };
}

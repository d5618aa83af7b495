import { AgentError } from "capstan";
import { readCsv } from "../../../import/read-csv.ts";
import { buildSections, type Chapter } from "./build-sections.ts";
import type { ParsedDocument } from "./parsed-document.ts";

const limits = { rows: 10_000, bytes: 50_000_000, columns: 200, rowLength: 100_000 };

/** One chapter per row, with the name of each column. Streams the file, so that it needs no worker. */
export async function parseCsv(path: string, signal?: AbortSignal): Promise<ParsedDocument> {
  const chapters: Chapter[] = [];
  try {
    let number = 0;
    for await (const row of readCsv(path, { limits, ...(signal && { signal }) })) {
      number += 1;
      const cells = [...row].filter(([, value]) => value.trim() !== "");
      if (cells.length === 0) continue;
      const text = cells.map(([column, value]) => `${column}: ${value.trim()}`).join("\n");
      chapters.push({ heading: `Row ${number}`, blocks: [text] });
    }
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== "file_limit" || chapters.length === 0) throw error;
    return { sections: buildSections(chapters), note: `Only the first ${chapters.length} rows were read.` };
  }
  return { sections: buildSections(chapters) };
}

import { basename, extname } from "node:path";
import { readCsv } from "../../import/read-csv.ts";
import { defaultGraphLimits } from "./network-builder.ts";
import type { Row, Table } from "./table.ts";

/** Reads a CSV or TSV file. */
export async function readCsvTable(path: string, signal?: AbortSignal): Promise<Table> {
  const rows: Row[] = [];
  let columns: readonly string[] = [];
  const limits = { rows: defaultGraphLimits.edges };
  for await (const cells of readCsv(path, { limits, ...(signal && { signal }) })) {
    if (rows.length === 0) columns = [...cells.keys()];
    rows.push(new Map([...cells].filter(([, text]) => text.trim() !== "")));
  }
  return { name: basename(path, extname(path)), columns, rows, isText: true };
}

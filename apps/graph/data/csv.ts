/** A row of a CSV file by the names of its columns, and the line where it begins. */
export type CsvRow = { readonly line: number; readonly cells: { readonly [column: string]: string } };

/** The columns and rows of a CSV text: with a header, fields in quotes where need be, separated by commas, semicolons or tabs. */
export function readCsv(text: string): { readonly columns: readonly string[]; readonly rows: CsvRow[] } {
  const plain = text.replace(/^\uFEFF/u, "");
  const [header = ""] = plain.split(/\r?\n/u, 1);
  const separator = [",", ";", "\t"].toSorted((left, right) => count(header, right) - count(header, left))[0];
  const [head, ...records] = recordsOf(plain, separator ?? ",");
  const columns = (head?.cells ?? []).map((column) => column.trim());
  return {
    columns,
    rows: records.map(({ line, cells }) => {
      if (cells.length > columns.length)
        throw new Error(`line ${line}: ${cells.length} fields, but the header has ${columns.length}`);
      return {
        line,
        cells: Object.fromEntries(columns.map((column, at) => [column, (cells[at] ?? "").trim()])),
      };
    }),
  };
}

const count = (text: string, character: string): number => text.split(character).length - 1;

type CsvRecord = { readonly line: number; readonly cells: string[] };

function recordsOf(text: string, separator: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let record: CsvRecord = { line: 1, cells: [] };
  let line = 1;
  // A field in quotes, where a doubled quote stands for one, or a plain one; then what ends it.
  const field = new RegExp(
    `(?:"((?:[^"]|"")*)"|((?!")[^${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`,
    "yu",
  );
  while (field.lastIndex < text.length || record.cells.length > 0) {
    const match = field.exec(text);
    if (!match) throw new Error(`line ${line}: a quote is not closed, or something follows it`);
    const [whole, quoted, bare = "", end = ""] = match;
    record.cells.push(quoted?.replaceAll('""', '"') ?? bare);
    line += count(whole, "\n");
    if (end === separator) continue;
    if (record.cells.some((cell) => cell.trim() !== "")) records.push(record);
    record = { line, cells: [] };
    if (end === "") break;
  }
  return records;
}

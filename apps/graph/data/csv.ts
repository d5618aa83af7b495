/** A row by column name, with the line it starts on. */
export type CsvRow = { readonly line: number; readonly cells: { readonly [column: string]: string } };

/** Parses CSV with a header and optional quotes, separated by commas, semicolons or tabs. */
export function parseCsv(text: string): { readonly columns: readonly string[]; readonly rows: CsvRow[] } {
  const plain = text.replace(/^\uFEFF/u, "");
  const [header = ""] = plain.split(/\r?\n/u, 1);
  const separator = [",", ";", "\t"].toSorted(
    (left, right) => countCharacter(header, right) - countCharacter(header, left),
  )[0];
  const [head, ...records] = parseRecords(plain, separator ?? ",");
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

const countCharacter = (text: string, character: string): number => text.split(character).length - 1;

type CsvRecord = { readonly line: number; readonly cells: string[] };

function parseRecords(text: string, separator: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let record: CsvRecord = { line: 1, cells: [] };
  let line = 1;
  // A quoted field, in which a doubled quote is an escaped one, or a plain field; then its terminator.
  const field = new RegExp(
    `(?:"((?:[^"]|"")*)"|((?!")[^${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`,
    "yu",
  );
  while (field.lastIndex < text.length || record.cells.length > 0) {
    const match = field.exec(text);
    if (!match) throw new Error(`line ${line}: unclosed quote, or text after a closing quote`);
    const [whole, quoted, bare = "", end = ""] = match;
    record.cells.push(quoted?.replaceAll('""', '"') ?? bare);
    line += countCharacter(whole, "\n");
    if (end === separator) continue;
    if (record.cells.some((cell) => cell.trim() !== "")) records.push(record);
    record = { line, cells: [] };
    if (end === "") break;
  }
  return records;
}

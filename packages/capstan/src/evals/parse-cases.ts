import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { formatCount } from "../base/format-count.ts";
import { isRecord, type Json } from "../base/json.ts";
import { caseFields, type EvalCase, readCase } from "./eval-case.ts";
import { createUniqueNamer, findCaseName } from "./name-case.ts";

export type CaseFormat = "csv" | "jsonl";

const maxCases = 10_000;
const maxFileLength = 20_000_000;

/**
 * Parses the cases of a CSV or JSONL file. A case without an id is named by its question. Throws `invalid_input` that
 * names the line.
 */
export function parseCases(text: string, format: CaseFormat): readonly EvalCase[] {
  if (text.length > maxFileLength)
    throw createCasesError(`it has ${text.length} characters; the limit is ${maxFileLength}`);
  const rows = format === "csv" ? readCsv(text) : readJsonLines(text);
  if (rows.length === 0) throw createCasesError("it has no cases");
  if (rows.length > maxCases) throw createCasesError(`it has ${rows.length} cases; the limit is ${maxCases}`);
  const lines = new Map<string, number>();
  const cases = rows.map(({ line, fields }, index) => {
    const one = readCase({ ...fields, id: fields.id ?? `case-${index + 1}` }, `The case in line ${line}`);
    if (fields.id === undefined) return { one, isNamed: false };
    const earlier = lines.get(one.id);
    if (earlier !== undefined)
      throw createCasesError(`lines ${earlier} and ${line} have the same id ${JSON.stringify(one.id)}`);
    lines.set(one.id, line);
    return { one, isNamed: true };
  });
  const makeUnique = createUniqueNamer(lines.keys());
  return cases.map(({ one, isNamed }) =>
    isNamed ? one : { ...one, id: makeUnique(findCaseName(one.input) ?? one.id) },
  );
}

type Row = { readonly line: number; readonly fields: { readonly [field: string]: unknown } };

function readJsonLines(text: string): readonly Row[] {
  return text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap((line, index) => {
      if (line.trim() === "") return [];
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        throw createCasesError(`line ${index + 1} is not JSON`);
      }
      if (!isRecord(value))
        throw createCasesError(`line ${index + 1} is not an object, but ${formatValue(value)}`);
      return { line: index + 1, fields: value };
    });
}

function readCsv(text: string): readonly Row[] {
  const [header, ...records] = splitCsv(text.replace(/^\uFEFF/, ""));
  if (!header) return [];
  const columns = header.cells.map((cell) => cell.trim());
  for (const [index, column] of columns.entries()) {
    if (columns.indexOf(column) !== index) throw createCasesError(`it has two columns "${column}"`);
    if ((caseFields as readonly string[]).includes(column) && column !== "source") continue;
    const hint = suggestName(column, caseFields) || ` The columns are ${csvColumns.join(", ")}.`;
    throw createCasesError(`it has the unknown column ${JSON.stringify(column)}`, hint);
  }
  if (!columns.includes("input")) throw createCasesError('it has no column "input"');
  return records
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ""))
    .map(({ line, cells }) => {
      if (cells.length > columns.length)
        throw createCasesError(
          `line ${line} has ${formatCount(cells.length, "cell")}, and the header ${formatCount(columns.length, "column")}`,
        );
      const pairs = columns.flatMap((column, index) => {
        const cell = cells[index] ?? "";
        return cell === "" ? [] : [[column, readCell(column, cell, line)]];
      });
      return { line, fields: Object.fromEntries(pairs) };
    });
}

const csvColumns = caseFields.filter((field) => field !== "source");

/** Lists may be JSON, or names with semicolons. The context is JSON. A text that starts like JSON may still be a text. */
function readCell(column: string, cell: string, line: number): unknown {
  const isList = column === "calls" || column === "forbidden" || column === "tags";
  if (isList && !cell.trimStart().startsWith("["))
    return cell.split(";").flatMap((item) => (item.trim() === "" ? [] : item.trim()));
  if (!isList && column !== "context") return cell;
  try {
    return JSON.parse(cell) as Json;
  } catch {
    throw createCasesError(`the column "${column}" in line ${line} is not JSON`);
  }
}

type CsvRecord = { readonly line: number; readonly cells: readonly string[] };

/** Splits CSV as RFC 4180 defines it: quoted cells may contain commas, line breaks and doubled quotes. */
function splitCsv(text: string): readonly CsvRecord[] {
  const records: CsvRecord[] = [];
  let [position, line] = [0, 1];
  while (position < text.length) {
    const first = line;
    const cells: string[] = [];
    for (;;) {
      const { cell, next, lines } =
        text[position] === '"' ? readQuoted(text, position, line) : readPlain(text, position);
      cells.push(cell);
      line += lines;
      position = next;
      if (text[position] !== ",") break;
      position++;
    }
    if (text.startsWith("\r\n", position)) position += 2;
    else if (text[position] === "\n" || text[position] === "\r") position++;
    else if (position < text.length) throw createCasesError(`line ${line} has text behind a closing quote`);
    line++;
    records.push({ line: first, cells });
  }
  return records;
}

type Cell = { readonly cell: string; readonly next: number; readonly lines: number };

function readPlain(text: string, start: number): Cell {
  const ends = /[,\r\n]/g;
  ends.lastIndex = start;
  const next = ends.exec(text)?.index ?? text.length;
  return { cell: text.slice(start, next), next, lines: 0 };
}

function readQuoted(text: string, start: number, line: number): Cell {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) throw createCasesError(`the quote that opens in line ${line} is never closed`);
    if (text[quote + 1] === '"') {
      from = quote + 2;
      continue;
    }
    const raw = text.slice(start + 1, quote);
    return { cell: raw.replaceAll('""', '"'), next: quote + 1, lines: raw.split("\n").length - 1 };
  }
}

function createCasesError(problem: string, hint = ""): AgentError {
  return new AgentError("invalid_input", `The file of cases cannot be used: ${problem}.${hint}`);
}

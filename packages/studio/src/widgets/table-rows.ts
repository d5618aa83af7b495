import type { TableCell, TableColumn, TableProps } from "./widget-props.ts";

export type ShownColumn = {
  readonly key: string;
  readonly label: string;
  readonly align: "left" | "right";
  /** In characters. */
  readonly width: number;
};

export type Sorting = { readonly key: string; readonly direction: "ascending" | "descending" };

type Row = TableProps["rows"][number];

const looked = 200;
const mostColumns = 100;

/** The columns as given, or the fields of the first rows; as wide as what is in them, within reason. */
export function columnsOf({ columns, rows }: TableProps): readonly ShownColumn[] {
  const sample = rows.slice(0, looked);
  const given: readonly TableColumn[] =
    columns ?? [...new Set(sample.flatMap((row) => Object.keys(row)))].map((key) => ({ key }));
  const unique = [...new Map(given.map((column) => [column.key, column])).values()].slice(0, mostColumns);
  return unique.map((column) => {
    const { key, label = key, align } = column;
    const values = sample.map((row) => row[key]).filter((value) => value !== undefined && value !== null);
    const isNumber = values.length > 0 && values.every((value) => typeof value === "number");
    const longest = Math.max(label.length + 3, ...values.map((value) => String(value).length));
    return {
      key,
      label,
      align: align ?? (isNumber ? "right" : "left"),
      width: Math.min(Math.max(longest + 4, 8), 44),
    };
  });
}

/** The rows with the words in any field, in the wanted order. Nothing at all comes last either way. */
export function shownRows(
  rows: readonly Row[],
  filter: string,
  sorting: Sorting | undefined,
): readonly Row[] {
  const wanted = filter.trim().toLowerCase();
  const found =
    wanted === ""
      ? rows
      : rows.filter((row) =>
          Object.values(row).some((value) =>
            String(value ?? "")
              .toLowerCase()
              .includes(wanted),
          ),
        );
  if (!sorting) return found;
  const sign = sorting.direction === "ascending" ? 1 : -1;
  return [...found].sort((left, right) => {
    const [first, second] = [left[sorting.key] ?? null, right[sorting.key] ?? null];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return sign * compared(first, second);
  });
}

const collator = new Intl.Collator(undefined, { numeric: true });

function compared(left: NonNullable<TableCell>, right: NonNullable<TableCell>): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return collator.compare(String(left), String(right));
}

/** RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function toCsv(columns: readonly ShownColumn[], rows: readonly Row[]): string {
  const field = (value: TableCell | undefined): string => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [
    columns.map(({ label }) => field(label)),
    ...rows.map((row) => columns.map(({ key }) => field(row[key]))),
  ];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}

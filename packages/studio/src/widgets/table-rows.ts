import type { TableCell, TableColumn, TableProps } from "./widget-props.ts";

export type ShownColumn = {
  readonly key: string;
  readonly label: string;
  readonly align: "left" | "right";
  /** Width in characters. */
  readonly width: number;
};

export type Sorting = { readonly key: string; readonly direction: "ascending" | "descending" };

type Row = TableProps["rows"][number];

const sampleSize = 200;
const maxColumns = 100;

/** Returns the given columns, or the fields of the first rows, with widths that fit their content. */
export function getColumns({ columns, rows }: TableProps): readonly ShownColumn[] {
  const sample = rows.slice(0, sampleSize);
  const columnList: readonly TableColumn[] =
    columns ?? [...new Set(sample.flatMap((row) => Object.keys(row)))].map((key) => ({ key }));
  const unique = [...new Map(columnList.map((column) => [column.key, column])).values()].slice(0, maxColumns);
  return unique.map((column) => {
    const { key, label = key, align } = column;
    const values = sample.map((row) => row[key]).filter((value) => value !== undefined && value !== null);
    const isNumber = values.length > 0 && values.every((value) => typeof value === "number");
    const longestCell = Math.max(label.length + 3, ...values.map((value) => String(value).length));
    return {
      key,
      label,
      align: align ?? (isNumber ? "right" : "left"),
      width: Math.min(Math.max(longestCell + 4, 8), 44),
    };
  });
}

/** Filters and sorts the rows. Empty cells come last in both directions. */
export function selectRows(
  rows: readonly Row[],
  filter: string,
  sorting: Sorting | undefined,
): readonly Row[] {
  const needle = filter.trim().toLowerCase();
  const matches =
    needle === ""
      ? rows
      : rows.filter((row) =>
          Object.values(row).some((value) =>
            String(value ?? "")
              .toLowerCase()
              .includes(needle),
          ),
        );
  if (!sorting) return matches;
  const sign = sorting.direction === "ascending" ? 1 : -1;
  return [...matches].sort((left, right) => {
    const [first, second] = [left[sorting.key] ?? null, right[sorting.key] ?? null];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    return sign * compareCells(first, second);
  });
}

const collator = new Intl.Collator(undefined, { numeric: true });

function compareCells(left: NonNullable<TableCell>, right: NonNullable<TableCell>): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return collator.compare(String(left), String(right));
}

/** Formats as RFC 4180 CSV. Text that a spreadsheet would run as a formula is prefixed with an apostrophe. */
export function toCsv(columns: readonly ShownColumn[], rows: readonly Row[]): string {
  const formatCsvField = (value: TableCell | undefined): string => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [
    columns.map(({ label }) => formatCsvField(label)),
    ...rows.map((row) => columns.map(({ key }) => formatCsvField(row[key]))),
  ];
  return `${lines.map((line) => line.join(",")).join("\r\n")}\r\n`;
}

import { formatCount } from "capstan/sessions";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from "react";
import { Virtualizer } from "virtua";
import { classNames } from "../ui/class-names.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { getColumns, type ShownColumn, type Sorting, selectRows, toCsv } from "./table-rows.ts";
import { WidgetFrame } from "./widget-frame.tsx";
import type { TableCell, TableProps } from "./widget-props.ts";

const rowHeight = 33;
const maxVisibleRows = 12;

/** A virtualized table with sorting, filtering and CSV copy. */
export function TableWidget(props: TableProps): ReactNode {
  const { title, rows } = props;
  const [sorting, setSorting] = useState<Sorting | undefined>();
  const [filter, setFilter] = useState("");
  const deferredFilter = useDeferredValue(filter);
  const columns = useMemo(() => getColumns(props), [props]);
  const shown = useMemo(() => selectRows(rows, deferredFilter, sorting), [rows, deferredFilter, sorting]);
  const count =
    shown.length === rows.length
      ? formatCount(rows.length, "row")
      : `${shown.length} of ${formatCount(rows.length, "row")}`;
  return (
    <WidgetFrame
      label="Table"
      title={title}
      note={count}
      tools={
        <>
          <input
            type="search"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            aria-label="Filter rows"
            placeholder="Filter"
            className="h-7 pointer-coarse:h-11 w-28 rounded-md border bg-paper px-2 text-xs placeholder:text-faint sm:w-40"
          />
          <CopyButton label="Copy as CSV" text={() => toCsv(columns, shown)} />
        </>
      }
    >
      <Rows columns={columns} rows={shown} total={rows.length} sorting={sorting} onSort={setSorting} />
    </WidgetFrame>
  );
}

type RowsProps = {
  readonly columns: readonly ShownColumn[];
  readonly rows: TableProps["rows"];
  readonly total: number;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting | undefined) => void;
};

// Virtualized rows cannot be in a real table element, so roles are used.
function Rows({ columns, rows, total, sorting, onSort }: RowsProps): ReactNode {
  const container = useRef<HTMLElement>(null);
  const template = {
    gridTemplateColumns: columns.map(({ width }) => `minmax(${width}ch, ${width}fr)`).join(" "),
  };
  // Based on all rows, so that filtering does not move the content below.
  const height = rowHeight * (Math.min(total, maxVisibleRows) + 1) + 12;
  return (
    <ScrollRegion ref={container} label="Rows" className="overflow-auto text-sm" style={{ height }}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div
        role="table"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        className="w-max min-w-full"
      >
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        <div role="rowgroup" className="sticky top-0 z-10 border-b bg-sunken">
          {/* biome-ignore lint/a11y/useSemanticElements: see above */}
          {/* biome-ignore lint/a11y/useFocusableInteractive: the buttons in it are */}
          <div role="row" aria-rowindex={1} className="grid" style={template}>
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </div>
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        <div role="rowgroup">
          <Virtualizer
            // The virtualizer keeps its range, which may exceed a shorter list.
            key={rows.length}
            data={rows}
            scrollRef={container}
            startMargin={rowHeight}
            itemSize={rowHeight}
            ssrCount={Math.min(rows.length, maxVisibleRows)}
          >
            {(row, index) => (
              // biome-ignore lint/a11y/useSemanticElements: see above
              // biome-ignore lint/a11y/useFocusableInteractive: the region is
              <div
                role="row"
                aria-rowindex={index + 2}
                className="grid border-b hover:bg-sunken"
                style={template}
              >
                {columns.map(({ key, align }) => (
                  <Cell key={key} value={row[key]} align={align} />
                ))}
              </div>
            )}
          </Virtualizer>
          {rows.length === 0 && <p className="px-3 py-2 text-quiet">No rows.</p>}
        </div>
      </div>
    </ScrollRegion>
  );
}

type HeadCellProps = {
  readonly column: ShownColumn;
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting | undefined) => void;
};

function HeadCell({ column, sorting, onSort }: HeadCellProps): ReactNode {
  const direction = sorting?.key === column.key ? sorting.direction : undefined;
  const getNextSorting = (): Sorting | undefined => {
    if (direction === undefined) return { key: column.key, direction: "ascending" };
    return direction === "ascending" ? { key: column.key, direction: "descending" } : undefined;
  };
  const Arrow = direction === "descending" ? ArrowDown : ArrowUp;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the table is made of roles
    // biome-ignore lint/a11y/useFocusableInteractive: the button in it is
    <div role="columnheader" aria-sort={direction ?? "none"}>
      <button
        type="button"
        onClick={() => onSort(getNextSorting())}
        className={classNames(
          "flex h-8 pointer-coarse:h-11 w-full items-center gap-1 px-3 font-medium text-quiet text-xs hover:text-ink",
          column.align === "right" && "justify-end",
        )}
      >
        <span className="truncate">{escapeBidi(column.label)}</span>
        <Arrow
          size={12}
          aria-hidden="true"
          className={direction === undefined ? "invisible" : "shrink-0 text-accent"}
        />
      </button>
    </div>
  );
}

type CellProps = { readonly value: TableCell | undefined; readonly align: "left" | "right" };

const maxCellLength = 500;

function Cell({ value, align }: CellProps): ReactNode {
  const text = value === null || value === undefined ? "" : escapeInvisible(String(value));
  return (
    // biome-ignore lint/a11y/useSemanticElements: the table is made of roles
    <div
      role="cell"
      title={text.length > 24 ? text.slice(0, maxCellLength) : undefined}
      className={classNames("truncate px-3 py-1.5 leading-5", align === "right" && "text-right tabular-nums")}
    >
      {text.slice(0, maxCellLength)}
    </div>
  );
}

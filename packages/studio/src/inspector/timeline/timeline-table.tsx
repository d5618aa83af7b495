import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import { ScrollRegion } from "../../ui/scroll-region.tsx";
import type { TimelineBar } from "./timeline.ts";
import { formatTurn, getBarEnd } from "./timeline-row.tsx";
import type { TimelineRow } from "./timeline-rows.ts";

type TimelineTableProps = {
  readonly rows: readonly TimelineRow[];
  readonly now: number;
  readonly onSelect: (bar: TimelineBar) => void;
};

const pageSize = 200;

/** The timeline as an accessible table. */
export function TimelineTable({ rows, now, onSelect }: TimelineTableProps): ReactNode {
  const [rowLimit, setRowLimit] = useState(pageSize);
  const lines = rows.flatMap((row) =>
    row.type === "run" ? [] : row.bars.map((bar) => ({ bar, turn: row.turn, root: row.root })),
  );
  return (
    <ScrollRegion label="Timeline table" className="min-h-0 flex-1 overflow-auto">
      <table className="w-full text-left text-xs">
        <thead className="sticky top-0 bg-paper text-faint">
          <tr className="[&>th]:border-b [&>th]:px-3 [&>th]:py-1.5 [&>th]:font-medium">
            <th scope="col">Turn</th>
            <th scope="col">Step</th>
            <th scope="col">Start</th>
            <th scope="col">Duration</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, rowLimit).map(({ bar, turn, root }) => (
            <tr key={bar.id} className="border-b align-top [&>td]:px-3 [&>td]:py-1">
              <td className="whitespace-nowrap">
                {formatTurn(turn.turn)}
                {turn.agent !== root.agent && (
                  <span className="block text-accent">{escapeBidi(turn.agent)}</span>
                )}
              </td>
              <td>
                <button
                  type="button"
                  onClick={() => onSelect(bar)}
                  className="text-left underline-offset-2 hover:underline [overflow-wrap:anywhere]"
                >
                  {escapeBidi(bar.label)}
                </button>
                <span className="text-faint"> {bar.kind}</span>
              </td>
              <td className="whitespace-nowrap tabular-nums">{formatDuration(bar.from - root.from)}</td>
              <td className="whitespace-nowrap tabular-nums">
                {formatDuration(getBarEnd(bar, now) - bar.from)}
              </td>
              <td>{bar.state === "running" ? "running" : bar.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > rowLimit && (
        <Button size="small" kind="quiet" className="m-2" onClick={() => setRowLimit(rowLimit + pageSize)}>
          Show {Math.min(pageSize, lines.length - rowLimit)} more
        </Button>
      )}
    </ScrollRegion>
  );
}

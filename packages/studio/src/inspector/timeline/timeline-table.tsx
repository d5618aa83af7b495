import { type ReactNode, useState } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { spanOf } from "../../ui/format-duration.ts";
import type { TimelineBar } from "./timeline.ts";
import { endOf, turnLabel } from "./timeline-row.tsx";
import type { TimelineRow } from "./timeline-rows.ts";

type TimelineTableProps = {
  readonly rows: readonly TimelineRow[];
  readonly now: number;
  readonly onSelect: (bar: TimelineBar) => void;
};

const step = 200;

/** The timeline in words, for those who cannot see bars or would rather read. */
export function TimelineTable({ rows, now, onSelect }: TimelineTableProps): ReactNode {
  const [most, setMost] = useState(step);
  const lines = rows.flatMap((row) =>
    row.type === "run" ? [] : row.bars.map((bar) => ({ bar, turn: row.turn, root: row.root })),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section aria-label="Timeline as a table" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
      <table className="w-full text-left text-xs">
        <thead className="sticky top-0 bg-paper text-faint">
          <tr className="[&>th]:border-b [&>th]:px-3 [&>th]:py-1.5 [&>th]:font-medium">
            <th scope="col">Turn</th>
            <th scope="col">What</th>
            <th scope="col">After</th>
            <th scope="col">Took</th>
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, most).map(({ bar, turn, root }) => (
            <tr key={bar.id} className="border-b align-top [&>td]:px-3 [&>td]:py-1">
              <td className="whitespace-nowrap">
                {turnLabel(turn.turn)}
                {turn.agent !== root.agent && (
                  <span className="block text-accent">{steadyText(turn.agent)}</span>
                )}
              </td>
              <td>
                <button
                  type="button"
                  onClick={() => onSelect(bar)}
                  className="text-left underline-offset-2 hover:underline [overflow-wrap:anywhere]"
                >
                  {steadyText(bar.label)}
                </button>
                <span className="text-faint"> {bar.kind}</span>
              </td>
              <td className="whitespace-nowrap tabular-nums">{spanOf(bar.from - root.from)}</td>
              <td className="whitespace-nowrap tabular-nums">{spanOf(endOf(bar, now) - bar.from)}</td>
              <td>{bar.state === "running" ? "still on" : bar.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > most && (
        <Button size="small" kind="quiet" className="m-2" onClick={() => setMost(most + step)}>
          Show {Math.min(step, lines.length - most)} more
        </Button>
      )}
    </section>
  );
}

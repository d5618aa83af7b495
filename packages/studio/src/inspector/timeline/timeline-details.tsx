import type { ReactNode } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import type { Timeline, TimelineBar, TimelineRun, TimelineTurn } from "./timeline.ts";
import { formatTurn, getBarEnd } from "./timeline-row.tsx";

type TimelineDetailsProps = {
  readonly bar: TimelineBar | undefined;
  readonly timeline: Timeline;
  readonly now: number;
  readonly actions: ReactNode;
};

const stateLabels: Readonly<Record<TimelineBar["state"], string>> = {
  running: "running",
  ok: "done",
  error: "failed",
  denied: "denied",
  skipped: "skipped",
  interrupted: "interrupted",
};

/** Details of the active bar. Always present, so that the chart does not move. */
export function TimelineDetails({ bar, timeline, now, actions }: TimelineDetailsProps): ReactNode {
  const location = bar && findBarLocation(timeline, bar);
  return (
    <section aria-label="Details" className="h-32 shrink-0 overflow-y-auto border-t px-4 py-2.5 text-small">
      {bar ? (
        <>
          <p className="flex items-baseline gap-2">
            <span className="min-w-0 truncate font-medium">{escapeBidi(bar.label)}</span>
            <span className="shrink-0 text-quiet tabular-nums">
              {formatDuration(getBarEnd(bar, now) - bar.from)}, {stateLabels[bar.state]}
              {bar.attempts > 1 && `, ${bar.attempts} attempts`}
            </span>
          </p>
          {location && (
            <p className="text-xs text-faint">
              {formatTurn(location.turn.turn)} of {escapeBidi(location.turn.agent)}, started after{" "}
              {formatDuration(bar.from - location.run.from)}
            </p>
          )}
          {bar.detail !== "" && (
            <p className="line-clamp-2 text-xs text-quiet [overflow-wrap:anywhere]">
              {escapeBidi(bar.detail)}
            </p>
          )}
          {actions !== undefined && <div className="-ml-2.5 mt-0.5 flex flex-wrap">{actions}</div>}
        </>
      ) : (
        <Legend />
      )}
    </section>
  );
}

function Legend(): ReactNode {
  return (
    <div className="grid gap-1.5 text-xs text-quiet">
      <p>Hover over a bar, or tap it, to see its details.</p>
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        <Key look="bg-accent" label="Model" />
        <Key look="bg-quiet" label="Tool" />
        <Key look="border border-dashed border-warn bg-warn-soft" label="Waiting" />
        <Key look="bg-bad" label="Failed or denied" />
      </ul>
      <p className="text-faint">
        Hatched: shorter than it is. Long waits, and long calls beside very short ones, are shortened.
      </p>
    </div>
  );
}

function Key({ look, label }: { readonly look: string; readonly label: string }): ReactNode {
  return (
    <li className="flex items-center gap-1.5">
      <span aria-hidden="true" className={`h-2.5 w-5 rounded-[3px] ${look}`} />
      {label}
    </li>
  );
}

function findBarLocation(
  { runs, nested }: Timeline,
  bar: TimelineBar,
): { readonly run: TimelineRun; readonly turn: TimelineTurn } | undefined {
  for (const run of [...runs, ...[...nested.values()].flat()]) {
    const turn = run.turns.find(({ bars }) => bars.some(({ id }) => id === bar.id));
    if (turn) return { run, turn };
  }
  return undefined;
}

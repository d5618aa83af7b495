import type { ScheduleView } from "capstan/client/schedules";
import { formatCount } from "capstan/sessions";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { schedulesClient } from "../data/schedules-client.ts";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { Tag } from "../pages/page.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";

type ScheduleRowProps = { readonly schedule: ScheduleView; readonly onChange: () => void };

/** A schedule with its next times, its runs and what can be done with it. */
export function ScheduleRow({ schedule, onChange }: ScheduleRowProps): ReactNode {
  const { text, times, agent, state, next, runs, missedCount, timeZone } = schedule;
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = next;
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-64">
          <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
            <span className="line-clamp-2 [overflow-wrap:anywhere]">{escapeBidi(text)}</span>
            {state !== "active" && <Tag>{state}</Tag>}
            {missedCount > 0 && <Tag tone="warn">{missedCount} missed</Tag>}
            {runs[0]?.error && <Tag tone="bad">not started</Tag>}
          </p>
          <p className="mt-0.5 text-xs text-quiet">
            {escapeBidi(agent)} · {times}
          </p>
          {first !== undefined && (
            <p className="mt-1 text-sm">
              Next: <time dateTime={new Date(first).toISOString()}>{formatTime(first, timeZone)}</time>
              {others.length > 0 && (
                <span className="text-quiet">
                  , then {others.map((time) => formatTime(time, timeZone)).join(", ")}
                </span>
              )}
            </p>
          )}
        </div>
        <ScheduleActions schedule={schedule} onChange={onChange} />
      </div>
      {missedCount > 0 && (
        <p className="mt-2 text-xs text-warn">
          {formatCount(missedCount, "time")} passed while no server was running.{" "}
          {schedule.missed === "skip" ? "They were skipped." : "One run started late instead."}
        </p>
      )}
      {runs.length > 0 && (
        <div className="mt-2">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="-ml-2 h-7 rounded-md px-2 text-small font-medium text-accent pointer-coarse:h-11 hover:bg-sunken"
          >
            {formatCount(runs.length, "run")}
            <span className="sr-only"> of {escapeBidi(text)}</span>
          </button>
          {isOpen && <RunHistory schedule={schedule} />}
        </div>
      )}
    </li>
  );
}

function ScheduleActions({ schedule, onChange }: ScheduleRowProps): ReactNode {
  const { id, state } = schedule;
  const text = escapeBidi(schedule.text.slice(0, 80));
  const change = (act: () => Promise<unknown>) => runWithToast(() => act().then(onChange));
  return (
    <div className="flex flex-wrap gap-2">
      {state === "active" && (
        <Button
          size="small"
          aria-label={`Pause ${text}`}
          onClick={() => change(() => schedulesClient.pause(id))}
        >
          Pause
        </Button>
      )}
      {state === "paused" && (
        <Button
          size="small"
          aria-label={`Resume ${text}`}
          onClick={() => change(() => schedulesClient.resume(id))}
        >
          Resume
        </Button>
      )}
      <Button
        size="small"
        aria-label={`Run now: ${text}`}
        onClick={() => change(() => schedulesClient.run(id))}
      >
        Run now
      </Button>
      <ConfirmButton
        label="Remove"
        name={`Remove ${text}`}
        consequence="No further runs start. The runs so far are kept. This cannot be undone."
        onConfirm={() => schedulesClient.remove(id).then(onChange)}
      />
    </div>
  );
}

/** A run that starts up to this much late is on time. */
const graceMs = 60_000;

function RunHistory({ schedule: { runs, timeZone } }: { readonly schedule: ScheduleView }): ReactNode {
  return (
    <ul className="mt-1 grid gap-1 text-sm">
      {runs.map(({ runId, dueAt, startedAt, missed, isManual, error }) => (
        <li key={`${runId} ${startedAt}`} className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
          {error ? (
            <span>{formatTime(dueAt, timeZone)}</span>
          ) : (
            <Link
              href={`/runs/${encodeURIComponent(runId)}`}
              className="text-accent underline underline-offset-2"
            >
              {formatTime(startedAt, timeZone)}
            </Link>
          )}
          {isManual && <span className="text-xs text-quiet">started by you</span>}
          {startedAt - dueAt > graceMs && (
            <span className="text-xs text-warn">{formatDuration(startedAt - dueAt)} late</span>
          )}
          {missed !== undefined && <span className="text-xs text-warn">{missed} missed</span>}
          {error && (
            <span className="text-xs text-bad [overflow-wrap:anywhere]">{escapeBidi(error.message)}</span>
          )}
        </li>
      ))}
    </ul>
  );
}

function formatTime(time: number, timeZone: string): string {
  const style = { dateStyle: "medium", timeStyle: "short" } as const;
  try {
    return new Intl.DateTimeFormat(undefined, { ...style, timeZone }).format(time);
  } catch {
    return new Intl.DateTimeFormat(undefined, style).format(time); // the server may know more time zones
  }
}

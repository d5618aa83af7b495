import type { SessionView } from "capstan/client";
import { CloudOff } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { formatDuration } from "../../ui/format-duration.ts";
import { findOutage, formatClock, formatOutage } from "./outage.ts";
import { ErrorDetails } from "./run-end.tsx";

type OutageCardProps = {
  readonly view: SessionView;
  /** When the model is called again, in milliseconds since the epoch. */
  readonly until: number;
};

/** Shown while a run waits for its model provider. */
export function OutageCard({ view, until }: OutageCardProps): ReactNode {
  const { runId = "" } = view;
  const outage = findOutage(view);
  return (
    <section
      aria-label="Model provider"
      data-outage=""
      className="rounded-lg border border-warn/30 bg-warn-soft px-4 py-3 text-sm"
    >
      <div className="flex flex-wrap items-start gap-2.5">
        <CloudOff size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-warn" />
        <div className="min-w-0 flex-1 basis-52">
          <p className="text-warn">{formatOutage(outage?.error.code)}</p>
          <p className="text-xs text-quiet">
            Next attempt {outage && `(${outage.attempts + 1}) `}at {formatClock(until)}
            <Countdown until={until} />.
          </p>
        </div>
        <div className="flex gap-2 max-sm:pl-6.5">
          <Button size="small" onClick={() => runWithToast(() => client.runs.retry(runId))}>
            Try now
          </Button>
          <Button size="small" onClick={() => runWithToast(() => client.runs.cancel(runId))}>
            Cancel
          </Button>
        </div>
      </div>
      {outage && <ErrorDetails error={outage.error} />}
    </section>
  );
}

const secondMs = 1000;

/** Hidden from screen readers, which would read every second. */
function Countdown({ until }: { readonly until: number }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), secondMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((until - now) / secondMs);
  return (
    <span aria-hidden="true" className="tabular-nums">
      {seconds > 0 ? `, in ${formatDuration(seconds * secondMs)}` : ", now"}
    </span>
  );
}

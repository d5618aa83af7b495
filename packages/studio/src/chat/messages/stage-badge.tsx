import type { SessionView, Stage } from "capstan/client";
import type { ReactNode } from "react";
import { classNames } from "../../ui/class-names.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import { formatOutage } from "./outage.ts";

/** Status of the newest run. */
export function StageBadge({ view }: { readonly view: SessionView }): ReactNode {
  const stage = getCurrentStage(view);
  // The empty state covers this.
  if (stage === "idle") return null;
  const isRunning = view.status === "running";
  const style = statusStyles[view.status] ?? stageStyles[stage];
  return (
    <p data-stage={stage} className="flex min-h-6 items-center gap-2 text-quiet text-xs">
      <span
        aria-hidden="true"
        className={classNames("size-2 shrink-0 rounded-full", style, isRunning && "animate-pulse")}
      />
      {formatStage(view, stage)}
    </p>
  );
}

/** Live output is not in a fact yet. */
function getCurrentStage({ status, live, stage }: SessionView): Stage {
  const isStreaming = live.text !== "" || live.reasoning !== "" || live.calls.length > 0;
  return status === "running" && isStreaming ? "streaming" : stage;
}

function formatStage(view: SessionView, stage: Stage): string {
  const { status, live, pending } = view;
  if (live.retry) {
    const { attempt, code, waitMs } = live.retry;
    const failed = stage === "executing" ? "A tool failed." : formatOutage(code);
    return `${failed} Attempt ${attempt + 1} in ${formatDuration(waitMs)}.`;
  }
  if (status === "waiting") return pending.length > 0 ? "Waiting for you" : formatWait(view);
  if (status === "cancelled") return "Stopped";
  if (status === "limit") return "Limit reached";
  return isAwaitingBackground(view) ? "Waiting for background work" : stageLabels[stage];
}

/** Whether the model has answered, and the run continues only because of its background work. */
function isAwaitingBackground({ status, stage, live, nested }: SessionView): boolean {
  if (status !== "running" || stage !== "streaming" || live.text !== "" || live.reasoning !== "")
    return false;
  return [...nested.values()].some(({ status: nestedStatus, runs, runId = "" }) => {
    const isOpen = nestedStatus === "running" || nestedStatus === "waiting";
    return isOpen && runs.get(runId)?.start?.background;
  });
}

function formatWait({ runs, runId = "" }: SessionView): string {
  return runs.get(runId)?.resumesAt === undefined ? "Waiting" : "Waiting for the model provider";
}

const stageLabels: { readonly [S in Stage]: string } = {
  idle: "Ready",
  submitted: "Thinking…",
  streaming: "Writing…",
  executing: "Working…",
  processing: "Processing results…",
  complete: "Done",
  error: "Failed",
};

/** Statuses that override the stage. */
const statusStyles: { readonly [status in SessionView["status"]]?: string } = {
  limit: "bg-warn",
  waiting: "bg-warn",
  cancelled: "bg-faint",
};

const stageStyles: { readonly [S in Stage]: string } = {
  idle: "bg-faint",
  submitted: "bg-accent",
  streaming: "bg-accent",
  executing: "bg-accent",
  processing: "bg-accent",
  complete: "bg-good",
  error: "bg-bad",
};

import type { SessionView, Stage } from "capstan/client";
import type { ReactNode } from "react";
import { classNames } from "../../ui/class-names.ts";
import { spanOf } from "../../ui/format-duration.ts";

type StageBadgeProps = {
  readonly view: SessionView;
  /** After the last fact. */
  readonly settled: Stage;
};

/** Where the newest run is, in a word or two. */
export function StageBadge({ view, settled }: StageBadgeProps): ReactNode {
  const stage = currentStage(view, settled);
  // Nothing has begun, and the page says so.
  if (stage === "idle") return null;
  const isOn = view.status === "running";
  const look = statusLooks[view.status] ?? looks[stage];
  return (
    <p data-stage={stage} className="flex min-h-6 items-center gap-2 text-quiet text-xs">
      <span
        aria-hidden="true"
        className={classNames("size-2 shrink-0 rounded-full", look, isOn && "animate-pulse")}
      />
      {stageWords(view, stage)}
    </p>
  );
}

/** What is being said at this moment is in no fact yet. */
function currentStage({ status, live }: SessionView, settled: Stage): Stage {
  const isSpeaking = live.text !== "" || live.reasoning !== "" || live.calls.length > 0;
  return status === "running" && isSpeaking ? "streaming" : settled;
}

/** The only place that has words for it. */
function stageWords(view: SessionView, stage: Stage): string {
  const { status, live, pending } = view;
  if (live.retry) {
    const failed = stage === "executing" ? "A tool failed" : "The model did not answer";
    return `${failed}. Trying again in ${spanOf(live.retry.waitMs)} (${live.retry.attempt}).`;
  }
  if (status === "waiting") return pending.length > 0 ? "Waiting for you" : "Waiting";
  if (status === "cancelled") return "Stopped";
  if (status === "limit") return "Stopped at a limit";
  return words[stage];
}

const words: { readonly [S in Stage]: string } = {
  idle: "Ready",
  submitted: "Thinking…",
  streaming: "Writing…",
  executing: "Working…",
  processing: "Processing results…",
  complete: "Done",
  error: "Failed",
};

/** Those that say more than the stage. */
const statusLooks: { readonly [status in SessionView["status"]]?: string } = {
  limit: "bg-warn",
  waiting: "bg-warn",
  cancelled: "bg-faint",
};

const looks: { readonly [S in Stage]: string } = {
  idle: "bg-faint",
  submitted: "bg-accent",
  streaming: "bg-accent",
  executing: "bg-accent",
  processing: "bg-accent",
  complete: "bg-good",
  error: "bg-bad",
};

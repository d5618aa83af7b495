import type { SessionView } from "capstan/client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { getReplies } from "./messages/get-replies.ts";
import { findOutage, formatClock, formatOutage } from "./messages/outage.ts";

/** Announces finished answers and pending calls to screen readers, never partial output. */
export function Announcer({ view }: { readonly view: SessionView }): ReactNode {
  const [announcement, setAnnouncement] = useState("");
  const previousView = useRef<SessionView>(undefined);
  /** An outage is announced once, however often the model is called. */
  const isOutageAnnounced = useRef(false);
  useEffect(() => {
    const previous = previousView.current;
    previousView.current = view;
    // Do not announce what happened before the page was opened.
    if (!previous || previous.seq === 0 || previous.seq === view.seq) return;
    const outage = buildOutageAnnouncement(view);
    const isNewOutage = outage !== undefined && !isOutageAnnounced.current;
    isOutageAnnounced.current = findOutage(view) !== undefined && (isNewOutage || isOutageAnnounced.current);
    const answer = isNewOutage ? outage : buildAnnouncement(previous, view);
    if (answer !== undefined) setAnnouncement(answer);
  }, [view]);
  return (
    <div aria-live="polite" className="sr-only">
      {announcement}
    </div>
  );
}

const maxAnswerLength = 400;

/** Announces that a run waits for its model provider. */
function buildOutageAnnouncement(view: SessionView): string | undefined {
  const until = view.status === "waiting" ? view.runs.get(view.runId ?? "")?.resumesAt : undefined;
  if (until === undefined) return undefined;
  return `${formatOutage(findOutage(view)?.error.code)} Next attempt at ${formatClock(until)}.`;
}

function buildAnnouncement(previousView: SessionView, view: SessionView): string | undefined {
  const newCall = view.pending.find(
    ({ callId }) => !previousView.pending.some((earlierCall) => earlierCall.callId === callId),
  );
  if (newCall)
    return newCall.question
      ? `Question: ${newCall.question.message}`
      : `${newCall.name} needs your approval.`;
  if (view.status === previousView.status) return undefined;
  if (view.status === "failed") return `The run failed. ${view.error?.message ?? ""}`;
  if (view.status === "cancelled") return "Stopped.";
  if (view.status !== "done" && view.status !== "limit") return undefined;
  const last = view.entries.findLast((entry) => entry.type === "assistant");
  const answer = last ? `Answer: ${last.text.slice(0, maxAnswerLength)}` : "Finished.";
  const replies = getReplies(view);
  return replies.length === 0 ? answer : `${answer} Suggested replies: ${replies.join(", ")}.`;
}

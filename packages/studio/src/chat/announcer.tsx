import type { SessionView } from "capstan/client";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { repliesOf } from "./messages/get-replies.ts";

/** Tells those who listen what has ended or waits; never what is half said. */
export function Announcer({ view }: { readonly view: SessionView }): ReactNode {
  const [words, setWords] = useState("");
  const before = useRef<SessionView>(undefined);
  useEffect(() => {
    const earlier = before.current;
    before.current = view;
    // What had happened before the page was opened is there to be read.
    if (!earlier || earlier.seq === 0 || earlier.seq === view.seq) return;
    const said = announcementOf(earlier, view);
    if (said !== undefined) setWords(said);
  }, [view]);
  return (
    <div aria-live="polite" className="sr-only">
      {words}
    </div>
  );
}

const most = 400;

function announcementOf(before: SessionView, view: SessionView): string | undefined {
  const asked = view.pending.find(({ callId }) => !before.pending.some((one) => one.callId === callId));
  if (asked)
    return asked.question
      ? `A question: ${asked.question.message}`
      : `${asked.name} waits for your approval.`;
  if (view.status === before.status) return undefined;
  if (view.status === "failed") return `The run failed. ${view.error?.message ?? ""}`;
  if (view.status === "cancelled") return "Stopped.";
  if (view.status !== "done" && view.status !== "limit") return undefined;
  const last = view.entries.findLast((entry) => entry.type === "assistant");
  const said = last ? `Answer: ${last.text.slice(0, most)}` : "Finished.";
  const replies = repliesOf(view);
  return replies.length === 0 ? said : `${said} Replies to choose from: ${replies.join(", ")}.`;
}

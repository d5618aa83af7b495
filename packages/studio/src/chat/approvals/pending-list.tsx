import type { SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { ApprovalCard } from "./approval-card.tsx";
import { QuestionCard } from "./question-card.tsx";

/** All calls that wait for the user. */
export function PendingList({ view }: { readonly view: SessionView }): ReactNode {
  const { pending, runId } = view;
  if (runId === undefined) return null;
  return pending.map((call) => {
    const key = `${call.callId} ${call.number ?? 0} ${call.digest ?? ""}`;
    return call.needs === "answer" || call.question ? (
      <QuestionCard key={key} pending={call} runId={runId} />
    ) : (
      <ApprovalCard key={key} pending={call} runId={runId} />
    );
  });
}

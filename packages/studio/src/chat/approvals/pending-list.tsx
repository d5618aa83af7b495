import type { SessionView } from "capstan/client";
import { type ReactNode, useEffect, useRef } from "react";
import { client } from "../../data/client.ts";
import type { FactIndex } from "../../data/fact-index.ts";
import { attempt } from "../../shell/toasts.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { QuestionCard } from "./question-card.tsx";
import { useAllowedTools } from "./standing-approvals.ts";

type PendingListProps = {
  readonly view: SessionView;
  readonly sessionId: string;
  readonly index: FactIndex;
};

/** All that waits for the person. */
export function PendingList({ view, sessionId, index }: PendingListProps): ReactNode {
  const { pending, runId } = view;
  const allowed = useAllowedTools(sessionId);
  const isAllowed = ({ callId, name, needs, question }: SessionView["pending"][number]) =>
    needs === "approval" &&
    !question &&
    allowed.includes(name) &&
    !index.approvals.get(callId)?.because?.length;
  useStandingAnswers(runId, pending.filter(isAllowed));
  if (runId === undefined) return null;
  return pending
    .filter((one) => !isAllowed(one))
    .map((one) => {
      const key = `${one.callId} ${one.number ?? 0} ${one.digest ?? ""}`;
      return one.needs === "answer" || one.question ? (
        <QuestionCard key={key} pending={one} runId={runId} />
      ) : (
        <ApprovalCard key={key} pending={one} runId={runId} />
      );
    });
}

/** Answers each of them once. */
function useStandingAnswers(runId: string | undefined, pending: SessionView["pending"]): void {
  const answered = useRef(new Set<string>());
  useEffect(() => {
    if (runId === undefined) return;
    for (const { callId, digest } of pending) {
      const key = `${callId} ${digest}`;
      if (answered.current.has(key)) continue;
      answered.current.add(key);
      attempt(() => client.runs.approve(runId, callId, { ...(digest !== undefined && { digest }) }));
    }
  });
}

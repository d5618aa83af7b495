import type { SessionView } from "capstan/client";
import { type ReactNode, useEffect, useRef } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { QuestionCard } from "./question-card.tsx";
import { useAllowedTools } from "./standing-approvals.ts";

type PendingListProps = {
  readonly view: SessionView;
  readonly sessionId: string;
};

/** All calls that wait for the user. */
export function PendingList({ view, sessionId }: PendingListProps): ReactNode {
  const { pending, runId } = view;
  const allowed = useAllowedTools(sessionId);
  const isAllowed = ({ name, needs, question, because }: SessionView["pending"][number]) =>
    needs === "approval" && !question && allowed.includes(name) && !because?.length;
  useAutoApprove(runId, pending.filter(isAllowed));
  if (runId === undefined) return null;
  return pending
    .filter((call) => !isAllowed(call))
    .map((call) => {
      const key = `${call.callId} ${call.number ?? 0} ${call.digest ?? ""}`;
      return call.needs === "answer" || call.question ? (
        <QuestionCard key={key} pending={call} runId={runId} />
      ) : (
        <ApprovalCard key={key} pending={call} runId={runId} />
      );
    });
}

/** Approves each call once. */
function useAutoApprove(runId: string | undefined, pending: SessionView["pending"]): void {
  const approvedKeys = useRef(new Set<string>());
  useEffect(() => {
    if (runId === undefined) return;
    for (const { callId, digest } of pending) {
      const key = `${callId} ${digest}`;
      if (approvedKeys.current.has(key)) continue;
      approvedKeys.current.add(key);
      runWithToast(() => client.runs.approve(runId, callId, { ...(digest !== undefined && { digest }) }));
    }
  });
}

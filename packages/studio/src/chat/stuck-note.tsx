import type { ReactNode } from "react";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { StuckMessage } from "./stuck-message.tsx";

/** Asks whether the newest run of the session can continue, and explains why not. */
export function StuckNote({ session: { id, view, state } }: { readonly session: OpenSession }): ReactNode {
  const { runId, status } = view;
  const isUnfinished = state.type === "open" && (status === "running" || status === "waiting");
  const key = isUnfinished ? `${id} ${runId} ${status}` : undefined;
  const { value = [] } = useRequest(key, () => client.runs.listStuck({ sessionId: id }));
  const stuckRun = value.find((run) => run.runId === runId);
  if (!isUnfinished || !stuckRun) return null;
  return (
    <StuckMessage
      reason={stuckRun.reason}
      onCancel={() => runWithToast(() => client.runs.cancel(stuckRun.runId))}
    />
  );
}

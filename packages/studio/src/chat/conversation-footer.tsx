import { type ReactNode, useEffect } from "react";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { ApprovalRules } from "./approvals/approval-rules.tsx";
import { Composer } from "./composer/composer.tsx";
import type { SendMessage } from "./composer/use-send-message.ts";
import { buildItems } from "./messages/build-items.ts";
import { SessionMeter } from "./session-meter.tsx";
import type { Branching } from "./use-branching.ts";

type ConversationFooterProps = {
  readonly session: OpenSession;
  readonly branching: Branching;
  readonly sendMessage: SendMessage;
};

/** The composer, the approval rules and the session's usage. */
export function ConversationFooter({ session, branching, sendMessage }: ConversationFooterProps): ReactNode {
  const { id, view } = session;
  const { runId } = view;
  const { choice, choose, isRunning, send } = sendMessage;
  const stop = () => {
    if (runId !== undefined) runWithToast(() => client.runs.cancel(runId));
  };
  useStopKey(isRunning ? stop : undefined);

  function editLast(): void {
    const last = buildItems(view).findLast((item) => item.type === "user" && item.startSeq !== undefined);
    if (last?.type === "user") branching.edit(last);
  }
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-2 sm:px-6 [padding-bottom:max(0.5rem,env(safe-area-inset-bottom))]">
      <ApprovalRules sessionId={id} view={view} />
      <Composer
        draftKey={id}
        placeholder={isRunning ? "Send the next message…" : "Ask anything…"}
        isRunning={isRunning}
        choice={choice}
        onChoice={choose}
        onSend={send}
        onStop={stop}
        onEditLast={editLast}
      />
      <div className="px-1 pt-1.5">
        <SessionMeter view={view} />
      </div>
    </div>
  );
}

/** Stops the run on Esc, unless a dialog or menu is open. */
function useStopKey(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (!stop) return;
    function onKey(event: KeyboardEvent): void {
      const isOpen = document.querySelector("[role=dialog], [role=menu]") !== null;
      if (event.key !== "Escape" || event.defaultPrevented || isOpen) return;
      stop?.();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

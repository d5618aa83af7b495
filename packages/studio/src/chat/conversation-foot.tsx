import { X } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { client } from "../data/client.ts";
import type { FactIndex } from "../data/fact-index.ts";
import type { OpenSession } from "../data/open-session.ts";
import { visibleText } from "../markdown/visible-text.ts";
import { attempt } from "../shell/toasts.tsx";
import { useAllowedTools, useStandingApprovals } from "./approvals/standing-approvals.ts";
import { Composer } from "./composer/composer.tsx";
import type { Saying } from "./composer/use-send-message.ts";
import { itemsOf } from "./messages/build-items.ts";
import { SessionMeter } from "./session-meter.tsx";
import type { Branching } from "./use-branching.ts";

type ConversationFootProps = {
  readonly session: OpenSession;
  readonly index: FactIndex;
  readonly branching: Branching;
  readonly saying: Saying;
};

/** Where one goes on: the prompt, what is allowed without asking, and what it has cost. */
export function ConversationFoot({ session, index, branching, saying }: ConversationFootProps): ReactNode {
  const { id, view } = session;
  const { runId } = view;
  const { choice, choose, isRunning, say } = saying;
  const stop = () => {
    if (runId !== undefined) attempt(() => client.runs.cancel(runId));
  };
  useStopKey(isRunning ? stop : undefined);

  function editLast(): void {
    const last = itemsOf(view, index).findLast((item) => item.type === "user" && item.startSeq !== undefined);
    if (last?.type === "user") branching.edit(last);
  }
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-2 sm:px-6 [padding-bottom:max(0.5rem,env(safe-area-inset-bottom))]">
      <StandingLine sessionId={id} />
      <Composer
        place={id}
        placeholder={isRunning ? "Tell it something…" : "Ask something…"}
        isRunning={isRunning}
        choice={choice}
        onChoice={choose}
        onSend={say}
        onStop={stop}
        onEditLast={editLast}
      />
      <div className="px-1 pt-1.5">
        <SessionMeter view={view} index={index} />
      </div>
    </div>
  );
}

/** Esc stops, unless it closes something. */
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

function StandingLine({ sessionId }: { readonly sessionId: string }): ReactNode {
  const tools = useAllowedTools(sessionId);
  const revoke = useStandingApprovals((state) => state.revoke);
  if (tools.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-1.5 px-1 pb-1.5 text-xs text-warn">
      Allowed without asking while this page is open:
      {tools.map((tool) => (
        <button
          key={tool}
          type="button"
          aria-label={`Ask again before ${tool}`}
          onClick={() => revoke(sessionId, tool)}
          className="inline-flex items-center gap-1 rounded-full border border-warn/40 px-2 py-0.5 font-mono hover:bg-warn-soft"
        >
          {visibleText(tool)}
          <X size={11} aria-hidden="true" />
        </button>
      ))}
    </p>
  );
}

import type { Part } from "capstan";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { client } from "../connection/client.ts";
import type { FactIndex } from "../connection/fact-index.ts";
import type { OpenSession } from "../connection/open-session.ts";
import { useSessionList } from "../connection/session-list.ts";
import { visibleText } from "../markdown/visible-text.ts";
import { attempt } from "../shell/toasts.tsx";
import { Composer } from "./composer.tsx";
import { itemsOf } from "./items.ts";
import type { RunChoice } from "./run-choices.tsx";
import { SessionMeter } from "./session-meter.tsx";
import { useAllowedTools, useStandingApprovals } from "./standing-approvals.ts";
import type { Branching } from "./use-branching.ts";

type ConversationFootProps = {
  readonly session: OpenSession;
  readonly index: FactIndex;
  readonly branching: Branching;
  /** With the text when it was said to a run that is on. */
  readonly onSaid: (told: string | undefined) => void;
};

/** Where one goes on: the prompt, what is allowed without asking, and what it has cost. */
export function ConversationFoot({ session, index, branching, onSaid }: ConversationFootProps): ReactNode {
  const { id, view, watch } = session;
  const { status, runId } = view;
  const isRunning = status === "running" || status === "waiting";
  const agent = index.runStarts.get(runId ?? "")?.agent;
  const [choice, setChoice] = useState<RunChoice>({});
  const refresh = useSessionList((list) => list.refresh);
  const stop = () => {
    if (runId !== undefined) attempt(() => client.runs.cancel(runId));
  };
  useStopKey(isRunning ? stop : undefined);

  async function send(input: string | readonly Part[]): Promise<void> {
    const chosen = { agent: choice.agent ?? agent, model: choice.model };
    await watch.send(input, given(chosen));
    onSaid(isRunning && typeof input === "string" ? input : undefined);
    await refresh();
  }
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
        choice={{ ...choice, agent: choice.agent ?? agent }}
        onChoice={setChoice}
        onSend={send}
        onStop={stop}
        onEditLast={editLast}
      />
      <div className="px-1 pt-1.5">
        <SessionMeter view={view} index={index} />
      </div>
    </div>
  );
}

function given({ agent, model }: RunChoice): { readonly agent?: string; readonly model?: string } {
  return { ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) };
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

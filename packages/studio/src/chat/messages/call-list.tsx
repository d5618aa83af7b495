import type { CallView, LiveView, SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import { useConversation } from "../conversation-context.ts";
import { ToolCard } from "./tool-card.tsx";

type CallListProps = {
  readonly calls: readonly CallView[];
  readonly progress?: LiveView["progress"] | undefined;
};

/** The calls of one turn. */
export function CallList({ calls, progress }: CallListProps): ReactNode {
  const { getView } = useConversation();
  if (calls.length === 0) return null;
  return (
    <div className="min-w-0 divide-y rounded-lg border bg-raised">
      {calls.map((call) => {
        const nested = getView().nested.get(call.id);
        return (
          <ToolCard
            key={call.id}
            call={call}
            progress={progress?.find(({ callId }) => callId === call.id)?.data}
            nested={nested && <NestedRun view={nested} />}
          />
        );
      })}
    </div>
  );
}

/** The turns of a nested run. */
function NestedRun({ view }: { readonly view: SessionView }): ReactNode {
  const turns = view.entries.filter((entry) => entry.type === "assistant");
  const name = turns[0]?.agent;
  return (
    <section aria-label={name ? `Nested run of ${name}` : "Nested run"} className="border-l-2 pl-4">
      {name !== undefined && <p className="pb-1 text-xs font-medium text-accent">{escapeBidi(name)}</p>}
      <div className="grid gap-2 text-sm">
        {turns.map((entry) => (
          <div key={`${entry.runId} ${entry.turn}`} className="grid min-w-0 gap-2">
            {entry.text !== "" && <Markdown text={entry.text} citations={entry.citations} />}
            <CallList calls={entry.calls} />
          </div>
        ))}
        {view.status === "running" && <p className="animate-pulse text-quiet">Working…</p>}
      </div>
    </section>
  );
}

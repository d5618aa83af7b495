import type { CallView, LiveView, SessionView } from "capstan/client";
import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import { useConversation } from "../conversation-context.ts";
import { BackgroundBar } from "./background-bar.tsx";
import { ToolCard, WritingCalls } from "./tool-card.tsx";
import { useFold } from "./use-fold.ts";

type CallListProps = {
  readonly calls: readonly CallView[];
  readonly progress?: LiveView["progress"] | undefined;
  /** The root run that made the calls. */
  readonly runId?: string | undefined;
  /** An MCP App made the calls. */
  readonly isOfApp?: boolean;
};

const maxCalls = 8;
const callsInFold = 5;
const calmStates: ReadonlySet<CallView["state"]> = new Set(["ok", "said", "skipped"]);

/** The calls of one turn. A long list shows its first calls and the calls that need attention, until it is expanded. */
export function CallList({ calls, progress, runId, isOfApp }: CallListProps): ReactNode {
  const { getView } = useConversation();
  const [isOpen, setOpen] = useFold(`calls ${calls[0]?.id}`, false);
  if (calls.length === 0) return null;
  const isLong = calls.length > maxCalls;
  const shownCalls =
    isLong && !isOpen
      ? calls.filter(({ state }, index) => index < callsInFold || !calmStates.has(state))
      : calls;
  return (
    <div className="min-w-0 divide-y rounded-lg border bg-raised">
      {shownCalls.map((call) => {
        const nested = getView().nested.get(call.id);
        return (
          <ToolCard
            key={call.id}
            call={call}
            isOfApp={isOfApp}
            progress={progress?.find(({ callId }) => callId === call.id)?.data}
            nested={nested && <NestedRun view={nested} callId={call.id} runId={runId} />}
          />
        );
      })}
      {isLong && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="min-h-9 pointer-coarse:min-h-11 w-full px-3 py-1.5 text-left text-accent text-sm hover:bg-sunken"
        >
          {isOpen ? "Show fewer calls" : `Show ${formatCount(calls.length - shownCalls.length, "more call")}`}
        </button>
      )}
    </div>
  );
}

type NestedTurn = Pick<
  Extract<SessionView["entries"][number], { type: "assistant" }>,
  "text" | "calls" | "citations"
>;

/** Joins turns without text, such as the turns of a program that makes many calls. */
function joinTurns(turns: readonly NestedTurn[]): readonly NestedTurn[] {
  const joined: NestedTurn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.text === "" && last)
      joined[joined.length - 1] = { ...last, calls: [...last.calls, ...turn.calls] };
    else joined.push(turn);
  }
  return joined;
}

type NestedRunProps = {
  readonly view: SessionView;
  readonly callId: string;
  readonly runId?: string | undefined;
};

/** The turns of a nested run. */
function NestedRun({ view, callId, runId }: NestedRunProps): ReactNode {
  const isBackground = view.runs.get(view.runId ?? "")?.start?.background;
  const turns = view.entries.filter((entry) => entry.type === "assistant");
  const name = turns[0]?.agent ?? view.runs.get(view.runId ?? "")?.start?.agent;
  const isWriting = view.live.text !== "" || view.live.calls.length > 0;
  return (
    <section aria-label={name ? `Nested run of ${name}` : "Nested run"} className="border-l-2 pl-4">
      {name !== undefined && <p className="pb-1 text-xs font-medium text-accent">{escapeBidi(name)}</p>}
      {isBackground && <BackgroundBar view={view} callId={callId} runId={runId} />}
      <div className="grid gap-2 text-sm">
        {joinTurns(turns).map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are only added at the end
          <div key={index} className="grid min-w-0 gap-2">
            {turn.text !== "" && <Markdown text={turn.text} citations={turn.citations} />}
            <CallList calls={turn.calls} progress={view.live.progress} />
          </div>
        ))}
        {view.status === "running" && <NestedLive live={view.live} />}
        {view.status === "running" && !isBackground && !isWriting && (
          <p className="animate-pulse text-quiet">Working…</p>
        )}
      </div>
    </section>
  );
}

/** What the model of a nested run is writing. */
function NestedLive({ live }: Pick<SessionView, "live">): ReactNode {
  return (
    <>
      {live.text !== "" && <Markdown text={live.text} citations={live.citations} isStreaming />}
      <WritingCalls calls={live.calls} />
    </>
  );
}

import type { LiveView, SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { turnKey } from "../connection/fact-index.ts";
import { CitedMarkdown, WorkingNote } from "./assistant-message.tsx";
import { spanOf } from "./durations.ts";
import { ReasoningFold } from "./reasoning-fold.tsx";
import { CallLine } from "./tool-card.tsx";

/** What is being said at this moment. */
export function LiveMessage({ view }: { readonly view: SessionView }): ReactNode {
  const { live, status, runId = "", turn } = view;
  if (status !== "running") return null;
  return (
    <div className="grid min-w-0 gap-3" data-live="">
      {live.summary !== "" && <WorkingNote text={live.summary} isLive />}
      {live.reasoning !== "" && (
        <ReasoningFold
          id={turnKey(runId, turn)}
          text={live.reasoning}
          isThinking={live.text === "" && live.calls.length === 0}
        />
      )}
      {live.text !== "" && <CitedMarkdown text={live.text} citations={live.citations} isStreaming />}
      {live.calls.length > 0 && (
        <div className="divide-y rounded-lg border bg-raised">
          {live.calls.map(({ id, name, arguments: said }) => (
            <CallLine key={id} isOpen={false} call={{ name, input: said, state: "writing" }} />
          ))}
        </div>
      )}
      <Activity view={view} live={live} />
    </div>
  );
}

/** A sign of life while nothing is said. Its room is kept, so that nothing jumps. */
function Activity({ view, live }: { readonly view: SessionView; readonly live: LiveView }): ReactNode {
  const isSpeaking = live.text !== "" || live.reasoning !== "" || live.calls.length > 0;
  return (
    <p className="flex h-6 items-center gap-2 text-sm text-quiet">
      {!isSpeaking && (
        <>
          <span aria-hidden="true" className="size-2 animate-pulse rounded-full bg-accent" />
          {live.retry
            ? `The model did not answer. Trying again in ${spanOf(live.retry.waitMs)} (${live.retry.attempt}).`
            : activityOf(view)}
        </>
      )}
    </p>
  );
}

function activityOf({ entries }: SessionView): string {
  const last = entries.at(-1);
  if (last?.type !== "assistant" || last.calls.length === 0) return "Thinking…";
  const isUnderWay = last.calls.some(({ state }) => state === "running" || state === "said");
  return isUnderWay ? "Working…" : "Processing results…";
}

import type { SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { CitedMarkdown, WorkingNote } from "./assistant-message.tsx";
import { DiscardedLine } from "./discarded-line.tsx";
import { getTurnKey, ReasoningFold } from "./reasoning-fold.tsx";
import { WritingCalls } from "./tool-card.tsx";

/** The output that is being streamed. */
export function LiveMessage({ view }: { readonly view: SessionView }): ReactNode {
  const { live, status, runId = "", turn } = view;
  if (status !== "running") return null;
  return (
    <div className="grid min-w-0 gap-3" data-live="">
      {live.discarded && <DiscardedLine discarded={live.discarded} />}
      {live.summary !== "" && <WorkingNote text={live.summary} isLive />}
      {live.reasoning !== "" && (
        <ReasoningFold
          id={getTurnKey(runId, turn)}
          text={live.reasoning}
          isThinking={live.text === "" && live.calls.length === 0}
        />
      )}
      {live.text !== "" && <CitedMarkdown text={live.text} citations={live.citations} isStreaming />}
      <WritingCalls calls={live.calls} />
    </div>
  );
}

import { ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { classNames } from "../../ui/class-names.ts";
import { formatDuration } from "../../ui/format-duration.ts";
import { useFold } from "./use-fold.ts";

/** Thinking times measured by this page. */
const measuredTimes = new Map<string, number>();

/** Key of a turn for `ReasoningFold`. */
export const getTurnKey = (runId: string, turn: number): string => `${runId} ${turn}`;

type ReasoningFoldProps = {
  /** Key of the turn. */
  readonly id: string;
  readonly text: string;
  /** The model is reasoning and has not produced output yet. */
  readonly isThinking?: boolean;
  /** Used when this page has not measured the time. */
  readonly estimatedMs?: number | undefined;
};

/** Reasoning of a turn: expanded while it streams, collapsed afterwards. */
export function ReasoningFold({ id, text, isThinking = false, estimatedMs }: ReasoningFoldProps): ReactNode {
  const [isOpen, setOpen] = useFold(`reasoning ${id}`, isThinking);
  useMeasureThinking(id, isThinking);
  const measuredMs = measuredTimes.get(id);
  const label = isThinking ? "Thinking" : formatThinkingTime(measuredMs, estimatedMs);
  return (
    <div className="text-sm text-quiet">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="-ml-1 inline-flex items-center gap-1 rounded-md px-1 py-0.5 hover:text-ink"
      >
        <ChevronRight
          size={14}
          aria-hidden="true"
          className={classNames("transition-transform duration-100", isOpen && "rotate-90")}
        />
        <span className={isThinking ? "animate-pulse" : undefined}>{label}</span>
      </button>
      {isOpen && (
        <div className="mt-1 border-l-2 pl-4">
          <Markdown text={text} isStreaming={isThinking} />
        </div>
      )}
    </div>
  );
}

function formatThinkingTime(measuredMs: number | undefined, estimatedMs: number | undefined): string {
  const ms = measuredMs ?? estimatedMs;
  if (ms === undefined) return "Thought";
  if (ms < 1000) return "Thought for a moment";
  return `Thought for ${measuredMs === undefined ? "about " : ""}${formatDuration(ms)}`;
}

function useMeasureThinking(id: string, isThinking: boolean): void {
  const [startedAt] = useState(() => performance.now());
  useEffect(() => {
    if (!isThinking) return;
    return () => void measuredTimes.set(id, performance.now() - startedAt);
  }, [id, isThinking, startedAt]);
}

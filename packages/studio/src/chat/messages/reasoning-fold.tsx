import { ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Markdown } from "../../markdown/markdown.tsx";
import { classNames } from "../../ui/class-names.ts";
import { spanOf } from "../../ui/format-duration.ts";
import { useFold } from "./use-fold.ts";

/** How long the thoughts took that this page has seen. */
const measured = new Map<string, number>();

type ReasoningFoldProps = {
  /** Of the turn. */
  readonly id: string;
  readonly text: string;
  /** It thinks at this moment, and has said nothing yet. */
  readonly isThinking?: boolean;
  /** When this page has not seen it: about so long. */
  readonly aboutMs?: number | undefined;
};

/** What the model thought: open while it thinks, one line afterwards. */
export function ReasoningFold({ id, text, isThinking = false, aboutMs }: ReasoningFoldProps): ReactNode {
  const [isOpen, setOpen] = useFold(`reasoning ${id}`, isThinking);
  useMeasure(id, isThinking);
  const seenMs = measured.get(id);
  const label = isThinking ? "Thinking" : thoughtFor(seenMs, aboutMs);
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

function thoughtFor(seenMs: number | undefined, aboutMs: number | undefined): string {
  const ms = seenMs ?? aboutMs;
  if (ms === undefined) return "Thought";
  if (ms < 1000) return "Thought for a moment";
  return `Thought for ${seenMs === undefined ? "about " : ""}${spanOf(ms)}`;
}

function useMeasure(id: string, isThinking: boolean): void {
  const [beganAt] = useState(() => performance.now());
  useEffect(() => {
    if (!isThinking) return;
    return () => void measured.set(id, performance.now() - beganAt);
  }, [id, isThinking, beganAt]);
}

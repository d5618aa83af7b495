import { CircleStop, Gauge, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { steadyText } from "../../markdown/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import type { Item } from "./build-items.ts";

type EndItem = Extract<Item, { readonly type: "end" }>;
type RunEndProps = { readonly item: EndItem; readonly onRetry: (() => void) | undefined };

/** Why a run did not end with an answer. */
export function RunEnd({ item, onRetry }: RunEndProps): ReactNode {
  if (item.status === "cancelled")
    return (
      <Line icon={<CircleStop size={14} />}>
        Stopped.{" "}
        {onRetry && (
          <button type="button" onClick={onRetry} className="underline underline-offset-2 hover:text-ink">
            Ask again
          </button>
        )}
      </Line>
    );
  // What was reached stands above it, in the words of the run.
  if (item.status === "limit") return null;
  const { code, message } = item.error ?? { code: "failed", message: "The run failed." };
  return (
    <div role="alert" className="rounded-lg border border-bad/30 bg-bad-soft px-4 py-3 text-sm">
      <div className="flex items-start gap-2.5">
        <TriangleAlert size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-bad" />
        <p className="min-w-0 flex-1 text-bad">{sentenceOf(code)}</p>
        {onRetry && (
          <Button size="small" onClick={onRetry}>
            Retry
          </Button>
        )}
      </div>
      <details className="mt-1.5 pl-6.5 text-quiet">
        <summary className="cursor-pointer text-xs">Details</summary>
        <p className="mt-1 font-mono text-xs [overflow-wrap:anywhere]">
          {code}: {steadyText(message)}
        </p>
      </details>
    </div>
  );
}

const sentences: readonly (readonly [RegExp, string])[] = [
  [/rate|overload|busy/, "The model has too much to do. Try again in a moment."],
  [/auth|key|forbidden/, "The model refused the key. Look at the Models page."],
  [/timeout|timed/, "It took too long. Try again, or ask for less at once."],
  [/context|too_long|length/, "The conversation is too long for the model. Start a new one."],
  [/budget|spend/, "The budget is used up."],
  [
    /turns|stuck/,
    "It was stopped before it had an answer. Ask for less at once, or raise the limit of turns.",
  ],
  [/filter|refus/, "The model declined to answer this."],
  [/model/, "The model could not answer. Try again, or choose another one."],
];

function sentenceOf(code: string): string {
  return sentences.find(([kind]) => kind.test(code))?.[1] ?? "Something went wrong on the way. Try again.";
}

type NoticeItem = Extract<Item, { readonly type: "notice" }>;

/** Something that people should know: a limit, a warning, a compaction. */
export function NoticeLine({ item }: { readonly item: NoticeItem }): ReactNode {
  const { code, message } = item.entry;
  if (code === "compacted" || code === "summary")
    return (
      <details className="text-xs text-quiet">
        <summary className="cursor-pointer">Earlier parts were summed up to save room.</summary>
        {message !== "" && <p className="mt-2 whitespace-pre-wrap border-l-2 pl-3">{steadyText(message)}</p>}
      </details>
    );
  const isLimit = /limit|budget|max|turns|deadline/.test(code);
  return <Line icon={isLimit ? <Gauge size={14} /> : <Info size={14} />}>{steadyText(message)}</Line>;
}

/** Below an answer that no tool had a part in, though it was asked to. */
export function UngroundedLine(): ReactNode {
  return (
    <Line icon={<Info size={14} />}>No tool could help with this answer: it rests on none of them.</Line>
  );
}

function Line({ icon, children }: { readonly icon: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <p className="flex items-start gap-2 text-sm text-quiet [&>svg]:mt-1 [&>svg]:shrink-0">
      {icon}
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}

import { CircleStop, Gauge, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { Item } from "./build-items.ts";
import { CopyRunLink } from "./copy-run-link.tsx";

type EndItem = Extract<Item, { readonly type: "end" }>;
type RunEndProps = { readonly item: EndItem; readonly onRetry: (() => void) | undefined };

/** Explains why a run did not end with an answer. */
export function RunEnd({ item, onRetry }: RunEndProps): ReactNode {
  if (item.status === "cancelled")
    return (
      <Line icon={<CircleStop size={14} />}>
        Stopped.{" "}
        {onRetry && (
          <button type="button" onClick={onRetry} className="underline underline-offset-2 hover:text-ink">
            Retry
          </button>
        )}
      </Line>
    );
  // The notice above already explains the limit.
  if (item.status === "limit") return null;
  const { code, message } = item.error ?? { code: "failed", message: "The run failed." };
  return (
    <div role="alert" className="rounded-lg border border-bad/30 bg-bad-soft px-4 py-3 text-sm">
      <div className="flex items-start gap-2.5">
        <TriangleAlert size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-bad" />
        <p className="min-w-0 flex-1 text-bad">{formatFailure(code)}</p>
        <CopyRunLink runId={item.runId} />
        {onRetry && (
          <Button size="small" onClick={onRetry}>
            Retry
          </Button>
        )}
      </div>
      <ErrorDetails error={{ code, message }} isOpen={item.canRetry} />
    </div>
  );
}

type ErrorDetailsProps = {
  readonly error: { readonly code: string; readonly message: string };
  readonly isOpen?: boolean | undefined;
};

/** The code and message of an error, folded unless the user needs the reason. */
export function ErrorDetails({ error: { code, message }, isOpen }: ErrorDetailsProps): ReactNode {
  return (
    <details open={isOpen} className="mt-1.5 pl-6.5 text-quiet">
      <summary className="cursor-pointer text-xs">Details</summary>
      <p className="mt-1 font-mono text-xs [overflow-wrap:anywhere]">
        {code}: {escapeBidi(message)}
      </p>
    </details>
  );
}

const failureMessages: readonly (readonly [RegExp, string])[] = [
  [
    /quarantined/,
    "This run was stopped, because its process crashed each time it continued. Retry to release it.",
  ],
  [/rate_limited/, "The model provider limits the rate of requests. Try again in a moment."],
  [/overload|busy/, "The model is overloaded. Try again in a moment."],
  [/unreachable/, "The model provider is not reachable. Try again in a moment."],
  [/auth|key|forbidden/, "The provider rejected the API key. Check the Models page."],
  [/timeout|timed/, "The request timed out. Try again, or ask for less at once."],
  [/context|too_long|length/, "The conversation exceeds the model's context. Start a new one."],
  [/budget|spend/, "The budget is exhausted."],
  [
    /turns|stuck/,
    "The run stopped before it reached an answer. Ask for less at once, or raise the turn limit.",
  ],
  [/filter|refus/, "The model declined to answer this."],
  [/model/, "The model failed to answer. Try again, or choose another model."],
];

/** Explains an error code to the user. */
export function formatFailure(code: string): string {
  return failureMessages.find(([kind]) => kind.test(code))?.[1] ?? "Something went wrong. Try again.";
}

type NoticeItem = Extract<Item, { readonly type: "notice" }>;

/** A limit, a warning or a compaction. */
export function NoticeLine({ item }: { readonly item: NoticeItem }): ReactNode {
  const { code, message } = item.entry;
  if (code === "compacted" || code === "summary")
    return (
      <details className="text-xs text-quiet">
        <summary className="cursor-pointer">Earlier messages were summarized to save context.</summary>
        {message !== "" && <p className="mt-2 whitespace-pre-wrap border-l-2 pl-3">{escapeBidi(message)}</p>}
      </details>
    );
  const isLimit = /limit|budget|max|turns|deadline/.test(code);
  return <Line icon={isLimit ? <Gauge size={14} /> : <Info size={14} />}>{escapeBidi(message)}</Line>;
}

/** Shown below an answer that no tool result or source supports. */
export function UngroundedLine(): ReactNode {
  return <Line icon={<Info size={14} />}>No tool result or cited source supports this answer.</Line>;
}

function Line({ icon, children }: { readonly icon: ReactNode; readonly children: ReactNode }): ReactNode {
  return (
    <p className="flex items-start gap-2 text-sm text-quiet [&>svg]:mt-1 [&>svg]:shrink-0">
      {icon}
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </p>
  );
}

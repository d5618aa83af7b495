import { type ReactNode, useMemo, useState } from "react";
import { visibleText } from "../../markdown/visible-text.ts";
import { attempt } from "../../shell/toasts.tsx";
import { repliesOf } from "./get-replies.ts";

type RepliesProps = {
  readonly view: Parameters<typeof repliesOf>[0];
  readonly onSay: (text: string) => Promise<void>;
};

/** Answers to choose from, under the newest one. A button says what is sent when it is pressed, and nothing else. */
export function Replies({ view, onSay }: RepliesProps): ReactNode {
  const { status, runId, entries } = view;
  const replies = useMemo(() => repliesOf({ status, runId, entries }), [status, runId, entries]);
  const [isBusy, setBusy] = useState(false);
  if (replies.length === 0) return null;
  function say(text: string): void {
    setBusy(true);
    attempt(() => onSay(text).finally(() => setBusy(false)));
  }
  return (
    <fieldset aria-label="Replies" disabled={isBusy} className="flex min-w-0 flex-wrap gap-2">
      {replies.map((text) => (
        <button
          key={text}
          type="button"
          onClick={() => say(text)}
          className="min-h-8 max-w-full whitespace-pre-wrap rounded-2xl border border-accent/50 bg-raised px-3 py-1 text-left text-accent text-sm [overflow-wrap:anywhere] hover:bg-accent-soft disabled:opacity-60"
        >
          {visibleText(text)}
        </button>
      ))}
    </fieldset>
  );
}

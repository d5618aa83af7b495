import { type ReactNode, useMemo, useState } from "react";
import { runWithToast } from "../../shell/toasts.tsx";
import { escapeInvisible } from "../../ui/escape-text.ts";
import { getReplies } from "./get-replies.ts";

type RepliesProps = {
  readonly view: Parameters<typeof getReplies>[0];
  readonly onSend: (text: string) => Promise<void>;
};

/** Suggested replies below the newest answer. A button sends exactly its label. */
export function Replies({ view, onSend }: RepliesProps): ReactNode {
  const { status, runId, entries } = view;
  const replies = useMemo(() => getReplies({ status, runId, entries }), [status, runId, entries]);
  const [isBusy, setBusy] = useState(false);
  if (replies.length === 0) return null;
  function send(text: string): void {
    setBusy(true);
    runWithToast(() => onSend(text).finally(() => setBusy(false)));
  }
  return (
    <fieldset aria-label="Suggested replies" disabled={isBusy} className="flex min-w-0 flex-wrap gap-2">
      {replies.map((text) => (
        <button
          key={text}
          type="button"
          onClick={() => send(text)}
          className="min-h-8 pointer-coarse:min-h-11 max-w-full whitespace-pre-wrap rounded-2xl border border-accent/50 bg-raised px-3 py-1 text-left text-accent text-sm [overflow-wrap:anywhere] hover:bg-accent-soft disabled:opacity-60"
        >
          {escapeInvisible(text)}
        </button>
      ))}
    </fieldset>
  );
}

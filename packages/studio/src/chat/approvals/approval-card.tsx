import type { PendingView } from "capstan/client";
import { ShieldAlert, ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../../data/client.ts";
import { steadyText, visibleText } from "../../markdown/visible-text.ts";
import { attempt } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { JsonText } from "../../ui/json-text.tsx";
import { Widget } from "../../widgets/widget.tsx";
import { useConversation } from "../conversation-context.ts";
import { inputContent, inputDiff } from "./input-diff.ts";
import { useStandingApprovals } from "./standing-approvals.ts";
import { useFreshGesture } from "./use-fresh-gesture.ts";

type ApprovalCardProps = { readonly pending: PendingView; readonly runId: string };

/** A call that a person must agree to: everything it would do, why it asks, and what made it suspicious. */
export function ApprovalCard({ pending, runId }: ApprovalCardProps): ReactNode {
  const { callId, name, reason = "", shown, parentCallId } = pending;
  const { index } = useConversation();
  const fact = index().approvals.get(callId);
  const because = fact?.because ?? [];
  const diff = fact && inputDiff(fact.input);
  const content = fact && inputContent(fact.input);
  const isSuspicious = because.length > 0;
  const why = isSuspicious ? ownReason(reason, name) : reason;
  const Icon = isSuspicious ? ShieldAlert : ShieldQuestion;
  return (
    <section
      aria-label={`Approval for ${name}`}
      data-approval={callId}
      className="grid gap-3 rounded-xl border border-warn/50 bg-raised p-4"
    >
      <div className="flex items-start gap-2.5">
        <Icon size={18} aria-hidden="true" className="mt-0.5 shrink-0 text-warn" />
        <div className="min-w-0 flex-1">
          <p className="font-medium">
            Allow <code className="font-mono text-[0.9em]">{visibleText(name)}</code>?
            {parentCallId !== undefined && (
              <span className="font-normal text-quiet"> Asked by an agent inside.</span>
            )}
          </p>
          {why !== "" && <p className="text-sm text-quiet [overflow-wrap:anywhere]">{steadyText(why)}</p>}
        </div>
      </div>
      {isSuspicious && <Because sources={because} />}
      {diff && (
        <div className="min-w-0 [&>*]:my-0">
          <Widget hint={diff} />
        </div>
      )}
      {content !== undefined && <JsonText label="New content" text={content} />}
      {shown !== undefined && (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
          tabIndex={0}
          className="max-h-72 overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-[0.8125rem] leading-normal [overflow-wrap:anywhere]"
        >
          {visibleText(shown)}
        </pre>
      )}
      <Decision pending={pending} runId={runId} mayStand={!isSuspicious} />
    </section>
  );
}

type BecauseProps = {
  readonly sources: readonly { readonly tool: string; readonly turn: number; readonly input: string }[];
};

/** Where the words came from that may be behind this call. */
function Because({ sources }: BecauseProps): ReactNode {
  // One call can have brought in strangers' words and private data both.
  const calls = new Map(sources.map((source) => [`${source.tool} ${source.turn} ${source.input}`, source]));
  return (
    <div className="rounded-md bg-warn-soft px-3 py-2 text-sm">
      <p className="text-warn">It follows after something that strangers may have written:</p>
      <ul className="mt-1 grid gap-0.5 text-quiet">
        {[...calls].map(([key, { tool, turn, input }]) => (
          <li key={key} className="[overflow-wrap:anywhere]">
            <span className="font-medium text-ink">{visibleText(tool)}</span>
            {turn > 0 && `, turn ${turn}`}: <span className="font-mono text-xs">{visibleText(input)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

type DecisionProps = ApprovalCardProps & {
  /** Whether it can be allowed for more than this once. */
  readonly mayStand: boolean;
};

function Decision({ pending, runId, mayStand }: DecisionProps): ReactNode {
  const { callId, name, digest } = pending;
  const { sessionId } = useConversation();
  const allowTool = useStandingApprovals((state) => state.allow);
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<string>();
  const fresh = useFreshGesture();
  function tell(action: () => Promise<void>): void {
    setBusy(true);
    attempt(() => action().finally(() => setBusy(false)));
  }
  const allow = () => client.runs.approve(runId, callId, { ...(digest !== undefined && { digest }) });
  const deny = () => client.runs.deny(runId, callId, note?.trim() || undefined);
  // An approval takes no note along: what was typed would be lost.
  const hasNote = (note ?? "").trim() !== "";
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button kind="main" disabled={isBusy || hasNote} onClick={fresh(() => tell(allow))}>
        Allow
      </Button>
      <Button disabled={isBusy} onClick={fresh(() => tell(deny))}>
        {hasNote ? "Deny with this note" : "Deny"}
      </Button>
      {note === undefined ? (
        <Button kind="quiet" onClick={() => setNote("")}>
          Add a note why not
        </Button>
      ) : (
        <input
          // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
          autoFocus
          aria-label="Why it is denied"
          placeholder="Why not, for the agent"
          value={note}
          maxLength={2000}
          onChange={({ target }) => setNote(target.value)}
          onKeyDown={(event) => event.key === "Enter" && note.trim() !== "" && fresh(() => tell(deny))(event)}
          className="h-9 min-w-40 flex-1 rounded-md border bg-paper px-3 text-sm"
        />
      )}
      {mayStand && (
        <Button
          kind="quiet"
          className="sm:ml-auto"
          disabled={isBusy || hasNote}
          onClick={fresh(() => {
            allowTool(sessionId, name);
            tell(allow);
          })}
        >
          Always in this session
        </Button>
      )}
      {hasNote && (
        <p className="basis-full text-xs text-quiet">
          Only a denial takes the note along. Empty it to allow the call.
        </p>
      )}
    </div>
  );
}

/**
 * What the tool itself says of why it asks: without the last sentence of the gate, which the list of sources in the card
 * says better. Looked for from the end, so that nothing a tool or a stranger has written can hide the words before it.
 */
export function ownReason(reason: string, name: string): string {
  const ends = ["changes something", "reaches the outside"].map((does) =>
    reason.lastIndexOf(`"${name}" ${does}`),
  );
  const at = Math.max(...ends);
  return at === -1 ? reason : reason.slice(0, at).trimEnd();
}

import { describeScope, type PendingView } from "capstan/client";
import { ShieldAlert, ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { escapeBidi, escapeInvisible } from "../../ui/escape-text.ts";
import { JsonText } from "../../ui/json-text.tsx";
import { Widget } from "../../widgets/widget.tsx";
import { ExpiredNote } from "./expired-note.tsx";
import { buildInputDiff, getInputContent } from "./input-diff.ts";
import { formatExpiry, useExpired } from "./use-expired.ts";
import { useMisclickGuard } from "./use-misclick-guard.ts";

type ApprovalCardProps = { readonly pending: PendingView; readonly runId: string };

/** A call that needs approval: the reason, and its effect. */
export function ApprovalCard({ pending, runId }: ApprovalCardProps): ReactNode {
  const { callId, name, reason = "", shown, parentCallId, input, because = [], expiresAt, ui } = pending;
  const isExpired = useExpired(expiresAt);
  const diff = ui ?? (input === undefined ? undefined : buildInputDiff(input));
  const content = input === undefined || ui ? undefined : getInputContent(input);
  const isSuspicious = because.length > 0;
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
            Allow <code className="font-mono text-[0.9em]">{escapeInvisible(name)}</code>?
            {parentCallId !== undefined && (
              <span className="font-normal text-quiet"> Requested by a sub-agent.</span>
            )}
          </p>
          {reason !== "" && !isSuspicious && (
            <p className="text-sm text-quiet [overflow-wrap:anywhere]">{escapeBidi(reason)}</p>
          )}
        </div>
      </div>
      {isSuspicious && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-sm [overflow-wrap:anywhere]">
          {escapeBidi(reason)}
        </p>
      )}
      {diff && (
        <div className="min-w-0 [&>*]:my-0">
          <Widget hint={diff} />
        </div>
      )}
      {content !== undefined && <JsonText label="New content" text={content} />}
      {shown !== undefined && (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
          tabIndex={0}
          className="max-h-72 overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-[0.8125rem] leading-normal [overflow-wrap:anywhere]"
        >
          {escapeInvisible(shown)}
        </pre>
      )}
      {isExpired && expiresAt !== undefined ? (
        <ExpiredNote expiresAt={expiresAt} />
      ) : (
        <Decision pending={pending} runId={runId} />
      )}
    </section>
  );
}

function Decision({ pending, runId }: ApprovalCardProps): ReactNode {
  const { callId, name, digest, always, pattern, expiresAt } = pending;
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<string>();
  const guardClick = useMisclickGuard();
  function submit(action: () => Promise<void>): void {
    setBusy(true);
    runWithToast(() => action().finally(() => setBusy(false)));
  }
  const approval = digest === undefined ? {} : { digest };
  const allow = () => client.runs.approve(runId, callId, approval);
  const allowAlways = (covered: true | "pattern") => () =>
    client.runs.approve(runId, callId, { ...approval, always: covered });
  const deny = () => client.runs.deny(runId, callId, note?.trim() || undefined);
  // An approval carries no note, so the typed note would be lost.
  const hasNote = (note ?? "").trim() !== "";
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button kind="main" disabled={isBusy || hasNote} onClick={guardClick(() => submit(allow))}>
        Allow
      </Button>
      <Button disabled={isBusy} onClick={guardClick(() => submit(deny))}>
        {hasNote ? "Deny with note" : "Deny"}
      </Button>
      {note === undefined ? (
        <Button kind="quiet" onClick={() => setNote("")}>
          Add a reason
        </Button>
      ) : (
        <input
          // biome-ignore lint/a11y/noAutofocus: the user just opened this field
          autoFocus
          aria-label="Reason for denial"
          placeholder="Reason, visible to the agent"
          value={note}
          maxLength={2000}
          onChange={({ target }) => setNote(target.value)}
          onKeyDown={(event) =>
            event.key === "Enter" && note.trim() !== "" && guardClick(() => submit(deny))(event)
          }
          className="h-9 min-w-40 flex-1 rounded-md border bg-paper px-3 text-sm"
        />
      )}
      {always && (
        <Button
          kind="quiet"
          className="sm:ml-auto"
          disabled={isBusy || hasNote}
          onClick={guardClick(() => submit(allowAlways(true)))}
        >
          Always allow
        </Button>
      )}
      {pattern && (
        <Button
          kind="quiet"
          disabled={isBusy || hasNote}
          onClick={guardClick(() => submit(allowAlways("pattern")))}
        >
          Allow pattern
        </Button>
      )}
      {hasNote && (
        <p className="basis-full text-xs text-quiet">
          Notes are only sent with a denial. Clear the note to allow the call.
        </p>
      )}
      <p className="grid basis-full gap-0.5 text-xs text-quiet [overflow-wrap:anywhere]">
        {always && <span>“Always allow” covers {describeScope(name, always)}, in this session.</span>}
        {pattern && <span>“Allow pattern” covers {describeScope(name, pattern)}, in this session.</span>}
        {expiresAt !== undefined && <span>You can decide until {formatExpiry(expiresAt)}.</span>}
      </p>
    </div>
  );
}

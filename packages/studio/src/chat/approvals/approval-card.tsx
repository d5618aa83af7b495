import { type CallPreview, describeScope, type PendingView } from "capstan/client";
import { ShieldAlert, ShieldQuestion } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi, escapeInvisible } from "../../ui/escape-text.ts";
import { JsonText } from "../../ui/json-text.tsx";
import { useMisclickGuard } from "../../ui/use-misclick-guard.ts";
import { Widget } from "../../widgets/widget.tsx";
import { EditArguments } from "./edit-arguments.tsx";
import { ExpiredNote } from "./expired-note.tsx";
import { buildInputDiff, getInputContent } from "./input-diff.ts";
import { buildInputEmail } from "./input-email.ts";
import { isSuspicious } from "./use-call-preview.ts";
import { formatExpiry, useExpired } from "./use-expired.ts";

type ApprovalCardProps = { readonly pending: PendingView; readonly runId: string };

/** A call that needs approval: the reason, and its effect. */
export function ApprovalCard({ pending, runId }: ApprovalCardProps): ReactNode {
  const { callId, name, parentCallId, expiresAt } = pending;
  const [edited, setEdited] = useState<CallPreview>();
  const { reason = "", shown, input, ui, because = [], leaks = [] } = edited ?? pending;
  const isExpired = useExpired(expiresAt);
  const preview = ui ?? (input === undefined ? undefined : (buildInputDiff(input) ?? buildInputEmail(input)));
  const content = input === undefined || ui ? undefined : getInputContent(input);
  const hasWarning = isSuspicious({ because, leaks });
  const Icon = hasWarning ? ShieldAlert : ShieldQuestion;
  return (
    <section
      aria-label={`Approval for ${name}`}
      data-approval={callId}
      className={classNames(
        "grid gap-3 rounded-xl border bg-raised p-4",
        hasWarning ? "border-warn/50" : "border-accent/50",
      )}
    >
      <div className="flex items-start gap-2.5">
        <Icon
          size={18}
          aria-hidden="true"
          className={classNames("mt-0.5 shrink-0", hasWarning ? "text-warn" : "text-accent")}
        />
        <div className="min-w-0 flex-1">
          <p className="font-medium">
            Allow <code className="font-mono text-[0.9em]">{escapeInvisible(name)}</code>?
            {parentCallId !== undefined && (
              <span className="font-normal text-quiet"> Requested by a sub-agent or a program.</span>
            )}
          </p>
          {reason !== "" && !hasWarning && (
            <p className="text-sm text-quiet [overflow-wrap:anywhere]">{escapeBidi(reason)}</p>
          )}
        </div>
      </div>
      {hasWarning && !edited && (
        <p data-warning className="rounded-md bg-warn-soft px-3 py-2 text-sm [overflow-wrap:anywhere]">
          {escapeBidi(reason)}
        </p>
      )}
      {preview && (
        <div className="min-w-0 [&>*]:my-0">
          <Widget hint={preview} />
        </div>
      )}
      {content !== undefined && <JsonText label="New content" text={content} />}
      {shown !== undefined && (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
          tabIndex={0}
          className="max-h-72 overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-small leading-normal [overflow-wrap:anywhere]"
        >
          {escapeInvisible(shown)}
        </pre>
      )}
      {isExpired && expiresAt !== undefined ? (
        <ExpiredNote expiresAt={expiresAt} />
      ) : (
        <Decision pending={pending} runId={runId} onPreview={setEdited} />
      )}
    </section>
  );
}

type DecisionProps = ApprovalCardProps & { readonly onPreview: (preview: CallPreview | undefined) => void };

/** The buttons, or the form for other arguments. */
function Decision({ pending, runId, onPreview }: DecisionProps): ReactNode {
  const { callId, input } = pending;
  const [form, setForm] = useState<{ readonly schema: unknown }>();
  async function openForm(): Promise<void> {
    // Without the schema, the form is built from the values.
    const { inputSchema } = await client.runs
      .previewCall(runId, callId)
      .catch(() => ({ inputSchema: undefined }));
    setForm({ schema: inputSchema });
  }
  function closeForm(): void {
    setForm(undefined);
    onPreview(undefined);
  }
  if (!form || input === undefined)
    return <Choices pending={pending} runId={runId} onEdit={() => void openForm()} />;
  return (
    <EditArguments
      pending={{ ...pending, input }}
      runId={runId}
      schema={form.schema}
      onPreview={onPreview}
      onCancel={closeForm}
    />
  );
}

type ChoicesProps = ApprovalCardProps & { readonly onEdit: () => void };

function Choices({ pending, runId, onEdit }: ChoicesProps): ReactNode {
  const { callId, input, digest, always, pattern } = pending;
  const scopeId = useId();
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState<string>();
  const { ref, guardClick } = useMisclickGuard();
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
    <div ref={ref} className="flex flex-wrap items-center gap-2">
      <Button kind="main" disabled={isBusy || hasNote} onClick={guardClick(() => submit(allow))}>
        Allow
      </Button>
      <Button disabled={isBusy} onClick={guardClick(() => submit(deny))}>
        {hasNote ? "Deny with note" : "Deny"}
      </Button>
      {input !== undefined && (
        <Button kind="quiet" disabled={isBusy || hasNote} onClick={onEdit}>
          Edit
        </Button>
      )}
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
          aria-describedby={`${scopeId}-always`}
          disabled={isBusy || hasNote}
          onClick={guardClick(() => submit(allowAlways(true)))}
        >
          Always allow
        </Button>
      )}
      {pattern && (
        <Button
          kind="quiet"
          aria-describedby={`${scopeId}-pattern`}
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
      <Scopes pending={pending} scopeId={scopeId} />
    </div>
  );
}

type ScopesProps = { readonly pending: PendingView; readonly scopeId: string };

/** What the wider permissions would cover, in words, before the click. */
function Scopes({ pending, scopeId }: ScopesProps): ReactNode {
  const { name, always, pattern, expiresAt } = pending;
  return (
    <p className="grid basis-full gap-0.5 text-xs text-quiet [overflow-wrap:anywhere]">
      {always && (
        <span id={`${scopeId}-always`}>
          “Always allow” covers {describeScope(name, always)}, in this session.
        </span>
      )}
      {pattern && (
        <span id={`${scopeId}-pattern`}>
          “Allow pattern” covers {describeScope(name, pattern)}, in this session.
        </span>
      )}
      {expiresAt !== undefined && <span>You can decide until {formatExpiry(expiresAt)}.</span>}
    </p>
  );
}

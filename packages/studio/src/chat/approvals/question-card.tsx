import type { Json } from "capstan";
import type { PendingView } from "capstan/client";
import { MessageCircleQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../../data/client.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { escapeBidi, escapeInvisible } from "../../ui/escape-text.ts";
import { useMisclickGuard } from "../../ui/use-misclick-guard.ts";
import { AnswerField } from "./answer-field.tsx";
import {
  type AnswerFieldSpec,
  buildFields,
  createEmptyValues,
  type FieldValues,
  parseAnswer,
} from "./answer-fields.ts";
import { ExpiredNote } from "./expired-note.tsx";
import { useExpired } from "./use-expired.ts";

type QuestionCardProps = { readonly pending: PendingView; readonly runId: string };

/** Form for a tool's question or for a call that the client answers. */
export function QuestionCard({ pending, runId }: QuestionCardProps): ReactNode {
  const { callId, name, question, needs, digest, expiresAt } = pending;
  const isExpired = useExpired(expiresAt);
  const fields = buildFields(question?.schema, needs === "answer");
  const [values, setValues] = useState(() => createEmptyValues(fields));
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { ref, guardClick } = useMisclickGuard();
  function submit(action: () => Promise<void>): void {
    setBusy(true);
    runWithToast(() => action().finally(() => setBusy(false)));
  }
  function submitAnswer(): void {
    const result = parseAnswer(fields, values);
    setProblem(result.problem);
    if (result.problem !== undefined) return;
    submit(() => send(result.value));
  }
  function send(value: Json | undefined): Promise<void> {
    if (needs === "answer") return client.runs.answer(runId, callId, value ?? null);
    const approval = { ...(digest !== undefined && { digest }), ...(value !== undefined && { value }) };
    return client.runs.approve(runId, callId, approval);
  }
  return (
    <form
      aria-label={`Question from ${name}`}
      data-question={callId}
      className="grid gap-3 rounded-xl border border-accent/50 bg-raised p-4"
      onSubmit={(event) => {
        event.preventDefault();
        guardClick(submitAnswer)(event.nativeEvent);
      }}
    >
      <div className="flex items-start gap-2.5">
        <MessageCircleQuestion size={18} aria-hidden="true" className="mt-0.5 shrink-0 text-accent" />
        <div className="min-w-0">
          <p className="[overflow-wrap:anywhere]">
            {escapeBidi(question?.message ?? `Enter the result of ${name}.`)}
          </p>
          <p className="text-xs text-faint">{escapeInvisible(name)}</p>
          {question?.url !== undefined && <QuestionLink url={question.url} />}
        </div>
      </div>
      {!isExpired && <Fields fields={fields} values={values} onChange={setValues} />}
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      {isExpired && expiresAt !== undefined ? (
        <ExpiredNote expiresAt={expiresAt} />
      ) : (
        <div ref={ref} className="flex gap-2">
          <Button kind="main" type="submit" disabled={isBusy}>
            Answer
          </Button>
          {needs === "approval" && (
            <Button
              disabled={isBusy}
              onClick={guardClick(() => submit(() => client.runs.deny(runId, callId)))}
            >
              Decline
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

type FieldsProps = {
  readonly fields: readonly AnswerFieldSpec[];
  readonly values: FieldValues;
  readonly onChange: (values: FieldValues) => void;
};

function Fields({ fields, values, onChange }: FieldsProps): ReactNode {
  return fields.map((field) => (
    <AnswerField
      key={field.name}
      field={field}
      value={values[field.name] ?? ""}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  ));
}

/** Shows the full address; opens only on click. */
function QuestionLink({ url }: { readonly url: string }): ReactNode {
  if (!/^https?:\/\//.test(url)) return <p className="font-mono text-xs">{escapeInvisible(url)}</p>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="font-mono text-xs text-accent underline [overflow-wrap:anywhere]"
    >
      {escapeInvisible(url)}
    </a>
  );
}

import type { Json } from "capstan";
import type { PendingView } from "capstan/client";
import { MessageCircleQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../../data/client.ts";
import { steadyText, visibleText } from "../../markdown/visible-text.ts";
import { attempt } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { AnswerField } from "./answer-field.tsx";
import { answerOf, emptyValues, type Field, fieldsOf, type Values } from "./answer-fields.ts";
import { useFreshGesture } from "./use-fresh-gesture.ts";

type QuestionCardProps = { readonly pending: PendingView; readonly runId: string };

/** What a tool asks in the middle of a call, or a call that is the client's to answer: a form, and a way to say no. */
export function QuestionCard({ pending, runId }: QuestionCardProps): ReactNode {
  const { callId, name, question, needs, digest } = pending;
  const fields = fieldsOf(question?.schema, needs === "answer");
  const [values, setValues] = useState(() => emptyValues(fields));
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const fresh = useFreshGesture();
  function tell(action: () => Promise<void>): void {
    setBusy(true);
    attempt(() => action().finally(() => setBusy(false)));
  }
  function answer(): void {
    const made = answerOf(fields, values);
    setProblem(made.problem);
    if (made.problem !== undefined) return;
    tell(() => send(made.value));
  }
  function send(value: Json | undefined): Promise<void> {
    if (needs === "answer") return client.runs.answer(runId, callId, value ?? null);
    const given = { ...(digest !== undefined && { digest }), ...(value !== undefined && { value }) };
    return client.runs.approve(runId, callId, given);
  }
  return (
    <form
      aria-label={`Question of ${name}`}
      data-question={callId}
      className="grid gap-3 rounded-xl border border-accent/50 bg-raised p-4"
      onSubmit={(event) => {
        event.preventDefault();
        fresh(answer)(event.nativeEvent);
      }}
    >
      <div className="flex items-start gap-2.5">
        <MessageCircleQuestion size={18} aria-hidden="true" className="mt-0.5 shrink-0 text-accent" />
        <div className="min-w-0">
          <p className="[overflow-wrap:anywhere]">
            {steadyText(question?.message ?? `${name} is to be answered here.`)}
          </p>
          <p className="text-xs text-faint">{visibleText(name)}</p>
          {question?.url !== undefined && <QuestionLink url={question.url} />}
        </div>
      </div>
      <Fields fields={fields} values={values} onChange={setValues} />
      {problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="flex gap-2">
        <Button kind="main" type="submit" disabled={isBusy}>
          Answer
        </Button>
        {needs === "approval" && (
          <Button disabled={isBusy} onClick={fresh(() => tell(() => client.runs.deny(runId, callId)))}>
            Decline
          </Button>
        )}
      </div>
    </form>
  );
}

type FieldsProps = {
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
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

/** Opened only by a click, with the whole address in sight. */
function QuestionLink({ url }: { readonly url: string }): ReactNode {
  if (!/^https?:\/\//.test(url)) return <p className="font-mono text-xs">{visibleText(url)}</p>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="font-mono text-xs text-accent underline [overflow-wrap:anywhere]"
    >
      {visibleText(url)}
    </a>
  );
}

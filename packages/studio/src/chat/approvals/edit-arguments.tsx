import type { Json } from "capstan";
import type { CallPreview, PendingView } from "capstan/client";
import { type ReactNode, useId, useState } from "react";
import { client } from "../../data/client.ts";
import { Button } from "../../ui/button.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import { useMisclickGuard } from "../../ui/use-misclick-guard.ts";
import { AnswerField } from "./answer-field.tsx";
import type { FieldValues } from "./answer-fields.ts";
import {
  buildArgumentFields,
  type ParsedArguments,
  parseFieldValues,
  parseJsonText,
  toFieldValues,
} from "./argument-fields.ts";
import { isSuspicious, useCallPreview } from "./use-call-preview.ts";

type EditArgumentsProps = {
  readonly pending: PendingView & { readonly input: Json };
  readonly runId: string;
  /** JSON Schema of the arguments, if the server knows the tool. */
  readonly schema: unknown;
  /** Shows the warnings and the effect of the changed call. */
  readonly onPreview: (preview: CallPreview) => void;
  readonly onCancel: () => void;
};

/** Form for the arguments of a call that waits for approval: a field per argument, or all of them as JSON. */
export function EditArguments(props: EditArgumentsProps): ReactNode {
  const { fields, values, json, warning, problem, isBusy, edit, submit, deny, showJson } = useEdit(props);
  const { ref, guardClick } = useMisclickGuard();
  return (
    <form
      aria-label="Change the arguments"
      className="grid gap-3 rounded-md border bg-paper p-3"
      onSubmit={(event) => {
        event.preventDefault();
        guardClick(() => void submit())(event.nativeEvent);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation(); // elsewhere, Escape stops the run
        props.onCancel();
      }}
    >
      {json === undefined ? (
        fields?.map((field, index) => (
          <AnswerField
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            isFocused={index === 0}
            onChange={(value) => edit({ ...values, [field.name]: value }, undefined)}
          />
        ))
      ) : (
        <JsonArea value={json} onChange={(text) => edit(values, text)} />
      )}
      {warning !== undefined && (
        <p data-warning className="rounded-md bg-warn-soft px-3 py-2 text-sm [overflow-wrap:anywhere]">
          {escapeBidi(warning)}
        </p>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-bad text-sm [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      <div ref={ref} className="flex flex-wrap items-center gap-2">
        <Button kind="main" type="submit" disabled={isBusy}>
          Allow with changes
        </Button>
        <Button disabled={isBusy} onClick={guardClick(() => void deny())}>
          Deny
        </Button>
        <Button kind="quiet" disabled={isBusy} onClick={props.onCancel}>
          Discard changes
        </Button>
        {json === undefined && (
          <Button kind="quiet" onClick={showJson}>
            Edit as JSON
          </Button>
        )}
        <p className="basis-full text-quiet text-xs">
          For this call only. The agent is told what you changed.
        </p>
      </div>
    </form>
  );
}

type Edit = {
  /** Undefined if the arguments can only be edited as JSON. */
  readonly fields: ReturnType<typeof buildArgumentFields>;
  readonly values: FieldValues;
  /** Set while all arguments are edited as JSON. */
  readonly json: string | undefined;
  /** What makes the changed call suspicious: beside the button, because the card is long. */
  readonly warning: string | undefined;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly edit: (values: FieldValues, json: string | undefined) => void;
  readonly submit: () => Promise<void>;
  readonly deny: () => Promise<void>;
  readonly showJson: () => void;
};

function useEdit({ pending, runId, schema, onPreview }: EditArgumentsProps): Edit {
  const { callId, digest, input } = pending;
  const fields = buildArgumentFields(input, schema);
  const [values, setValues] = useState(() => toFieldValues(fields ?? [], input));
  const [json, setJson] = useState(() => (fields ? undefined : JSON.stringify(input, undefined, 2)));
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const previews = useCallPreview({ runId, callId, onPreview });
  const parse = (edited: FieldValues, text: string | undefined): ParsedArguments => {
    if (text === undefined) return parseFieldValues({ fields: fields ?? [], values: edited, input });
    const parsed = parseJsonText(text);
    return parsed === undefined ? { problem: "This is not valid JSON." } : { input: parsed };
  };
  function edit(edited: FieldValues, text: string | undefined): void {
    setValues(edited);
    setJson(text);
    setProblem(undefined);
    const parsed = parse(edited, text);
    if ("input" in parsed) previews.schedule(parsed.input);
  }
  /** Approves what the user has seen: if a check finds something new, it is shown first. */
  async function allow(changed: Json): Promise<void> {
    if (!previews.isShown(changed)) {
      const preview = await previews.check(changed);
      if (!preview) return;
      if (isSuspicious(preview)) return setProblem("Read the warning, then allow the call again.");
    }
    await client.runs.approve(runId, callId, { ...(digest !== undefined && { digest }), input: changed });
  }
  async function submit(): Promise<void> {
    const parsed = parse(values, json);
    if ("problem" in parsed) return setProblem(parsed.problem);
    await decide(() => allow(parsed.input));
  }
  async function decide(action: () => Promise<void>): Promise<void> {
    setProblem(undefined);
    setBusy(true);
    try {
      await action();
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  }
  function showJson(): void {
    const parsed = parse(values, json);
    setProblem("problem" in parsed ? parsed.problem : undefined);
    if ("input" in parsed) setJson(JSON.stringify(parsed.input, undefined, 2));
  }
  const { warning } = previews;
  return {
    ...{ fields, values, json, warning, problem: problem ?? previews.problem },
    ...{ isBusy, edit, submit, deny: () => decide(() => client.runs.deny(runId, callId)), showJson },
  };
}

type JsonAreaProps = { readonly value: string; readonly onChange: (value: string) => void };

function JsonArea({ value, onChange }: JsonAreaProps): ReactNode {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium text-sm">
        Arguments as JSON
      </label>
      <textarea
        id={id}
        // biome-ignore lint/a11y/noAutofocus: the user just opened this field
        autoFocus
        rows={Math.min(16, Math.max(6, value.split("\n").length + 1))}
        value={value}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
        className="w-full rounded-md border bg-paper px-3 py-1.5 font-mono text-small"
      />
    </div>
  );
}

import type { Json } from "capstan";
import { type ReactNode, useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { AnswerField } from "./answer-field.tsx";
import {
  buildArgumentFields,
  type ParsedArguments,
  parseFieldValues,
  parseJsonText,
  toFieldValues,
} from "./argument-fields.ts";
import { useMisclickGuard } from "./use-misclick-guard.ts";

type EditArgumentsProps = {
  readonly input: Json;
  /** Allows the call with these arguments. Rejects if the server refuses them. */
  readonly onAllow: (input: Json) => Promise<void>;
  readonly onCancel: () => void;
};

/** Form for the arguments of a call that waits for approval: a field per argument, or all of them as JSON. */
export function EditArguments({ input, onAllow, onCancel }: EditArgumentsProps): ReactNode {
  const fields = buildArgumentFields(input);
  const [values, setValues] = useState(() => toFieldValues(input));
  const [json, setJson] = useState(() => (fields ? undefined : JSON.stringify(input, undefined, 2)));
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const guardClick = useMisclickGuard();
  const parse = (): ParsedArguments => {
    if (json === undefined) return parseFieldValues(fields ?? [], values);
    const parsed = parseJsonText(json);
    return parsed === undefined ? { problem: "This is not valid JSON." } : { input: parsed };
  };
  async function submit(): Promise<void> {
    const parsed = parse();
    if ("problem" in parsed) return setProblem(parsed.problem);
    setBusy(true);
    try {
      await onAllow(parsed.input);
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      setBusy(false);
    }
  }
  function showJson(): void {
    const parsed = parse();
    setProblem("problem" in parsed ? parsed.problem : undefined);
    if ("input" in parsed) setJson(JSON.stringify(parsed.input, undefined, 2));
  }
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
        onCancel();
      }}
    >
      {json === undefined ? (
        fields?.map((field, index) => (
          <AnswerField
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            isFocused={index === 0}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))
      ) : (
        <JsonArea value={json} onChange={setJson} />
      )}
      {problem !== undefined && (
        <p role="alert" className="text-bad text-sm [overflow-wrap:anywhere]">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="main" type="submit" disabled={isBusy}>
          Allow with changes
        </Button>
        <Button disabled={isBusy} onClick={onCancel}>
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

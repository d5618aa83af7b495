import { type ReactNode, useId } from "react";
import { escapeBidi } from "../../ui/escape-text.ts";
import type { AnswerFieldSpec } from "./answer-fields.ts";

type AnswerFieldProps = {
  readonly field: AnswerFieldSpec;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Takes the focus when it appears. */
  readonly isFocused?: boolean;
};

const inputStyle = "w-full rounded-md border bg-paper px-3 py-1.5 text-sm";

/** Form control for one field of an answer. */
export function AnswerField({ field, value, onChange, isFocused = false }: AnswerFieldProps): ReactNode {
  const id = useId();
  if (field.type === "boolean")
    return (
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={value === "true"}
          onChange={({ target }) => onChange(String(target.checked))}
          className="size-4 accent-accent"
        />
        {escapeBidi(field.label)}
      </label>
    );
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {escapeBidi(field.label)}
        {!field.isRequired && <span className="font-normal text-faint"> (optional)</span>}
      </label>
      {field.description !== undefined && (
        <p className="text-xs text-quiet">{escapeBidi(field.description)}</p>
      )}
      <Control id={id} field={field} value={value} onChange={onChange} isFocused={isFocused} />
    </div>
  );
}

type ControlProps = AnswerFieldProps & { readonly id: string };

function Control({ id, field, value, onChange, isFocused }: ControlProps): ReactNode {
  if (field.type === "choice")
    return (
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)} className={inputStyle}>
        <option value="">Choose…</option>
        {field.choices.map((choice, index) => (
          <option key={JSON.stringify(choice)} value={String(index)}>
            {escapeBidi(typeof choice === "string" ? choice : JSON.stringify(choice))}
          </option>
        ))}
      </select>
    );
  if (field.type === "json" || field.type === "lines")
    return (
      <textarea
        id={id}
        // biome-ignore lint/a11y/noAutofocus: only in a form that the user just opened
        autoFocus={isFocused}
        rows={Math.min(12, Math.max(3, value.split("\n").length))}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className={field.type === "json" ? `${inputStyle} font-mono` : inputStyle}
      />
    );
  return (
    <input
      id={id}
      // biome-ignore lint/a11y/noAutofocus: only in a form that the user just opened
      autoFocus={isFocused}
      inputMode={field.type === "number" ? "decimal" : "text"}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={inputStyle}
    />
  );
}

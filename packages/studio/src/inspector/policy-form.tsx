import { defaultPolicy, type Policy } from "capstan";
import { type ReactNode, useId } from "react";
import { classNames } from "../ui/class-names.ts";
import {
  differsFromDefault,
  formatFieldValue,
  getValueAt,
  type PolicyDraft,
  type PolicyField,
  policyGroups,
} from "./policy-fields.ts";

type PolicyFormProps = {
  readonly policy: Policy;
  readonly draft: PolicyDraft;
  readonly onChange: (draft: PolicyDraft) => void;
};

/** Form for a policy. Marks values that differ from the default. */
export function PolicyForm({ policy, draft, onChange }: PolicyFormProps): ReactNode {
  const id = useId();
  const setField = (path: string, value: string) =>
    onChange({ ...draft, fields: { ...draft.fields, [path]: value } });
  return (
    <>
      {policyGroups.map(({ title, fields }) => (
        <fieldset key={title} className="grid gap-1">
          <legend className="pb-1 text-small font-medium">{title}</legend>
          {fields.map((field) => (
            <FieldLine
              key={field.path}
              field={field}
              policy={policy}
              value={draft.fields[field.path] ?? ""}
              onChange={(value) => setField(field.path, value)}
            />
          ))}
        </fieldset>
      ))}
      <div>
        <label htmlFor={id} className="block pb-1 text-small font-medium">
          Other settings (JSON)
        </label>
        <textarea
          id={id}
          rows={8}
          spellCheck={false}
          value={draft.rest}
          onChange={({ target }) => onChange({ ...draft, rest: target.value })}
          className="w-full rounded-md border bg-sunken px-3 py-2 font-mono text-xs leading-relaxed"
        />
      </div>
    </>
  );
}

type FieldLineProps = {
  readonly field: PolicyField;
  readonly policy: Policy;
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function FieldLine({ field, policy, value, onChange }: FieldLineProps): ReactNode {
  const id = useId();
  const current = formatFieldValue(field, getValueAt(policy, field.path));
  const isChanged = value !== current;
  const isCustom = differsFromDefault(policy, field.path);
  const defaultValue = formatFieldValue(field, getValueAt(defaultPolicy, field.path));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_9rem] items-center gap-x-3">
      <label htmlFor={id} className="min-w-0 text-small">
        <span className={classNames(!isCustom && !isChanged && "text-quiet")}>{field.label}</span>
        {isCustom && !isChanged && <span className="text-xs text-accent"> default {defaultValue}</span>}
        {isChanged && <span className="text-xs text-warn"> was {current}</span>}
      </label>
      <Control id={id} field={field} value={value} onChange={onChange} />
    </div>
  );
}

const inputStyle = "h-7 w-full rounded-md border bg-raised px-2 text-small tabular-nums";

type ControlProps = Omit<FieldLineProps, "policy"> & { readonly id: string };

function Control({ id, field, value, onChange }: ControlProps): ReactNode {
  if (field.type === "flag")
    return (
      <input
        id={id}
        type="checkbox"
        checked={value === "true"}
        onChange={({ target }) => onChange(String(target.checked))}
        className="my-1.5 size-4 accent-accent"
      />
    );
  if (field.type === "choice")
    return (
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)} className={inputStyle}>
        {field.choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  return (
    <input
      id={id}
      {...(field.type === "number" && { inputMode: "decimal" as const })}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={inputStyle}
    />
  );
}

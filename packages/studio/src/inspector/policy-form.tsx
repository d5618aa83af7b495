import { defaultPolicy, type Policy } from "capstan";
import { type ReactNode, useId } from "react";
import { classNames } from "../ui/class-names.ts";
import { differs, type PolicyDraft, type PolicyField, policyGroups, valueAt } from "./policy-fields.ts";

type PolicyFormProps = {
  readonly policy: Policy;
  readonly draft: PolicyDraft;
  readonly onChange: (draft: PolicyDraft) => void;
};

/** A policy, to be changed. What is not as by default is marked. */
export function PolicyForm({ policy, draft, onChange }: PolicyFormProps): ReactNode {
  const id = useId();
  const setField = (path: string, value: string) =>
    onChange({ ...draft, fields: { ...draft.fields, [path]: value } });
  return (
    <>
      {policyGroups.map(({ title, fields }) => (
        <fieldset key={title} className="grid gap-1">
          <legend className="pb-1 text-[0.8125rem] font-medium">{title}</legend>
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
        <label htmlFor={id} className="block pb-1 text-[0.8125rem] font-medium">
          Everything else, as JSON
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
  const isChanged = value !== String(valueAt(policy, field.path));
  const isOwn = differs(policy, field.path);
  const usual = String(valueAt(defaultPolicy, field.path));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_9rem] items-center gap-x-3">
      <label htmlFor={id} className="min-w-0 text-[0.8125rem]">
        <span className={classNames(!isOwn && !isChanged && "text-quiet")}>{field.label}</span>
        {isOwn && !isChanged && <span className="text-xs text-accent"> by default {usual}</span>}
        {isChanged && <span className="text-xs text-warn"> was {String(valueAt(policy, field.path))}</span>}
      </label>
      <Control id={id} field={field} value={value} onChange={onChange} />
    </div>
  );
}

const look = "h-7 w-full rounded-md border bg-raised px-2 text-[0.8125rem] tabular-nums";

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
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)} className={look}>
        {field.choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  return (
    <input
      id={id}
      inputMode="decimal"
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={look}
    />
  );
}

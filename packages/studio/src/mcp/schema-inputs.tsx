import type { Json } from "capstan";
import { type ReactNode, useId, useState } from "react";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatChoice, type SchemaField } from "./schema-field.ts";

export type SchemaFormProps = {
  readonly schema: unknown;
  /** The document that references point into. */
  readonly root: unknown;
  readonly name: string;
  readonly value: Json | undefined;
  /** Undefined removes the value. */
  readonly onValue: (value: Json | undefined) => void;
  readonly isRequired?: boolean | undefined;
  readonly depth?: number;
};

const box = "w-full rounded-md border bg-paper px-3 text-sm user-invalid:border-bad";

type LabelledProps = Pick<SchemaFormProps, "name" | "isRequired"> & {
  readonly field: SchemaField;
  readonly children: (id: string) => ReactNode;
};

/** A label above an input, and what the server says about it below. */
export function Labelled({ name, isRequired, field, children }: LabelledProps): ReactNode {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <Name name={name} isRequired={isRequired} />
      </label>
      {children(id)}
      <Description field={field} />
    </div>
  );
}

export function Name({ name, isRequired = false }: Pick<SchemaFormProps, "name" | "isRequired">): ReactNode {
  return (
    <>
      <span className="font-mono text-small font-medium [overflow-wrap:anywhere]">
        {escapeInvisible(name)}
      </span>{" "}
      {isRequired && <span className="text-xs text-faint">required</span>}
    </>
  );
}

export function Description({ field: { title, description } }: { readonly field: SchemaField }): ReactNode {
  const text = [title, description].filter(Boolean).join(": ");
  if (text === "") return null;
  return <p className="line-clamp-3 text-xs text-quiet [overflow-wrap:anywhere]">{escapeBidi(text)}</p>;
}

type InputProps = SchemaFormProps & { readonly id: string; readonly field: SchemaField };

/** A text, a number or a choice. */
export function SimpleInput({ id, field, value, onValue, isRequired }: InputProps): ReactNode {
  if (field.kind === "choice")
    return (
      <select
        id={id}
        required={isRequired}
        value={value === undefined ? "" : String(field.choices.findIndex((one) => equalsJson(one, value)))}
        onChange={({ target }) =>
          onValue(target.value === "" ? undefined : field.choices[Number(target.value)])
        }
        className={`h-9 ${box}`}
      >
        <option value="">{isRequired ? "Choose" : "None"}</option>
        {field.choices.map((choice, index) => (
          <option key={JSON.stringify(choice)} value={index}>
            {escapeInvisible(formatChoice(choice)).slice(0, 200)}
          </option>
        ))}
      </select>
    );
  if (field.kind === "number")
    return (
      <input
        {...{ id, type: "number", required: isRequired, step: field.isInteger ? 1 : "any" }}
        value={typeof value === "number" ? value : ""}
        onChange={({ target }) => onValue(target.value === "" ? undefined : target.valueAsNumber)}
        className={`h-9 ${box}`}
      />
    );
  const text = typeof value === "string" ? value : "";
  return (
    <textarea
      id={id}
      rows={text.includes("\n") ? 4 : 1}
      value={text}
      required={isRequired}
      spellCheck={false}
      onChange={({ target }) => onValue(target.value === "" && !isRequired ? undefined : target.value)}
      className={`min-h-9 py-1.5 ${box}`}
    />
  );
}

function equalsJson(left: Json, right: Json): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

export type FieldProps = SchemaFormProps & { readonly field: SchemaField };

export function BooleanField({ name, isRequired, value, onValue, field }: FieldProps): ReactNode {
  return (
    <div className="grid gap-1">
      <label className="flex min-h-9 items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={value === true}
          onChange={({ target }) => onValue(target.checked)}
          className="size-4 accent-accent"
        />
        <Name name={name} isRequired={isRequired} />
      </label>
      <Description field={field} />
    </div>
  );
}

type JsonInputProps = Pick<SchemaFormProps, "value" | "onValue" | "isRequired"> & {
  readonly id: string;
  readonly rows?: number;
};

/** A value as JSON. The form cannot be sent while it is invalid. */
export function JsonInput({ id, value, onValue, isRequired, rows = 3 }: JsonInputProps): ReactNode {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, undefined, 2)));
  function update(target: HTMLTextAreaElement): void {
    setText(target.value);
    if (target.value.trim() === "") {
      target.setCustomValidity("");
      onValue(undefined);
      return;
    }
    try {
      onValue(JSON.parse(target.value) as Json);
      target.setCustomValidity("");
    } catch {
      target.setCustomValidity("Enter valid JSON.");
    }
  }
  return (
    <textarea
      {...{ id, rows }}
      value={text}
      required={isRequired}
      spellCheck={false}
      placeholder="JSON"
      onChange={({ target }) => update(target)}
      className={`py-2 font-mono text-small! ${box}`}
    />
  );
}

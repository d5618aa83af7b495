import { type ComponentProps, type ReactNode, useId } from "react";
import { classNames } from "../ui/class-names.ts";
import { CodeText } from "../ui/code-text.tsx";
import { escapeBidi } from "../ui/escape-text.ts";

const box = "w-full rounded-md border bg-paper px-3 text-sm aria-invalid:border-bad";

type LabelledProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Validation problem from the server. */
  readonly problem?: string | undefined;
};

function FieldHint({ id, hint, problem }: { readonly id: string } & Omit<LabelledProps, "label">): ReactNode {
  if (problem !== undefined)
    return (
      <p id={id} role="alert" className="text-sm text-bad [overflow-wrap:anywhere]">
        {escapeBidi(problem)}
      </p>
    );
  if (hint === undefined) return null;
  return (
    <p id={id} className="text-xs text-quiet">
      {hint}
    </p>
  );
}

type TextFieldProps = LabelledProps & {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Renders a textarea. */
  readonly rows?: number;
} & Pick<ComponentProps<"input">, "placeholder" | "list" | "disabled" | "inputMode" | "maxLength">;

/** A text input with label, hint and problem. */
export function TextField({
  label,
  hint,
  problem,
  value,
  onValue,
  rows,
  ...rest
}: TextFieldProps): ReactNode {
  const id = useId();
  const shared = {
    id,
    value,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-below`,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onValue(target.value),
  };
  const { placeholder, disabled, maxLength, ...others } = rest;
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {rows === undefined ? (
        <input {...shared} {...rest} className={classNames("h-9 disabled:text-quiet", box)} />
      ) : (
        <textarea
          {...shared}
          {...{ placeholder, disabled, maxLength }}
          rows={rows}
          spellCheck={others.list === undefined}
          className={classNames("py-2 leading-relaxed", box)}
        />
      )}
      <FieldHint id={`${id}-below`} hint={hint} problem={problem} />
    </div>
  );
}

type ChoiceFieldProps<Value extends string> = LabelledProps & {
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string }[];
  readonly onValue: (value: Value) => void;
};

/** A select with label, hint and problem. */
export function ChoiceField<Value extends string>(props: ChoiceFieldProps<Value>): ReactNode {
  const { label, hint, problem, value, choices, onValue } = props;
  const id = useId();
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-below`}
        onChange={({ target }) => onValue(target.value as Value)}
        className={classNames("h-9", box)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <FieldHint id={`${id}-below`} hint={hint} problem={problem} />
    </div>
  );
}

type CheckFieldProps = LabelledProps & {
  readonly chosen: readonly string[];
  readonly choices: readonly { readonly name: string; readonly description?: string }[];
  readonly onChosen: (chosen: readonly string[]) => void;
  /** Shown when there are no choices. */
  readonly emptyText: string;
};

/** A list of checkboxes. Selected names that no longer exist stay listed, so that they can be removed. */
export function CheckField({
  label,
  hint,
  problem,
  chosen,
  choices,
  onChosen,
  emptyText,
}: CheckFieldProps): ReactNode {
  const id = useId();
  const missing = chosen.filter((name) => !choices.some((choice) => choice.name === name));
  const all = [...choices, ...missing.map((name) => ({ name, description: "No longer available" }))];
  return (
    <fieldset aria-describedby={`${id}-below`} className="grid gap-1">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {all.length === 0 && <p className="text-sm text-quiet">{emptyText}</p>}
      {all.length > 0 && (
        <div className="grid max-h-56 gap-0.5 overflow-y-auto rounded-md border bg-paper p-1.5">
          {all.map(({ name, description }) => (
            <label
              key={name}
              className="flex cursor-pointer items-start gap-2.5 rounded px-2 py-1 text-sm hover:bg-sunken"
            >
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ target }) =>
                  onChosen(target.checked ? [...chosen, name] : chosen.filter((other) => other !== name))
                }
                className="mt-1 accent-accent"
              />
              <span className="min-w-0">
                <span className="[overflow-wrap:anywhere]">{escapeBidi(name)}</span>
                {description !== undefined && (
                  <span className="line-clamp-2 text-xs text-quiet">
                    <CodeText text={description} />
                  </span>
                )}
              </span>
            </label>
          ))}
        </div>
      )}
      <FieldHint id={`${id}-below`} hint={hint} problem={problem} />
    </fieldset>
  );
}

import type { ReactNode } from "react";
import { escapeBidi } from "./escape-text.ts";

type SelectFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
};

/** A select with an accessible label. */
export function SelectField({ label, value, choices, onChange }: SelectFieldProps): ReactNode {
  return (
    <select
      aria-label={label}
      title={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className="h-7 pointer-coarse:h-11 min-w-0 max-w-full truncate rounded-md border bg-raised px-1.5 text-small"
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {escapeBidi(choice.label)}
        </option>
      ))}
    </select>
  );
}

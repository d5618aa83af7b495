import type { DataLoaderInfo, NewDataSource } from "capstan/client";
import { type ReactNode, useId } from "react";
import { escapeBidi } from "../ui/escape-text.ts";

/** What the user has typed, by the name of the setting. */
export type TypedSettings = Readonly<Record<string, string>>;

type SettingFieldsProps = {
  readonly loader: DataLoaderInfo;
  readonly typed: TypedSettings;
  readonly onChange: (typed: TypedSettings) => void;
};

/** Choices of an app, such as the columns of a table. */
export function SettingFields({ loader, typed, onChange }: SettingFieldsProps): ReactNode {
  const id = useId();
  const settings = Object.entries(loader.settings);
  if (settings.length === 0) return null;
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-quiet">Options</summary>
      <div className="mt-2 grid gap-2">
        {settings.map(([name, meaning]) => (
          <div key={name} className="grid gap-1 sm:grid-cols-[8rem_1fr] sm:items-center">
            <label htmlFor={`${id}${name}`}>{escapeBidi(name)}</label>
            <input
              id={`${id}${name}`}
              value={typed[name] ?? ""}
              placeholder={escapeBidi(meaning)}
              onChange={({ target }) => onChange({ ...typed, [name]: target.value })}
              className="h-8 min-w-0 rounded-md border bg-raised px-2.5"
            />
          </div>
        ))}
      </div>
    </details>
  );
}

/** Omits empty fields. Numbers, booleans and lists are typed as in JSON; anything else is text. */
export function parseSettings(typed: TypedSettings): NonNullable<NewDataSource["settings"]> {
  const filled = Object.entries(typed).filter(([, text]) => text.trim() !== "");
  return Object.fromEntries(filled.map(([name, text]) => [name, parseValue(text.trim())]));
}

function parseValue(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import type { ReactNode } from "react";
import { useAbout } from "../../data/about.ts";
import { escapeBidi } from "../../ui/escape-text.ts";

/** Agent and model of the next run. The server chooses if undefined. */
export type RunChoice = { readonly agent?: string | undefined; readonly model?: string | undefined };

type RunChoicesProps = { readonly choice: RunChoice; readonly onChange: (choice: RunChoice) => void };

/** Selects the agent and model of the next run. */
export function RunChoices({ choice, onChange }: RunChoicesProps): ReactNode {
  const { about, models } = useAbout();
  const agents = about?.agents ?? [];
  return (
    <>
      {agents.length > 1 && (
        <Choice
          label="Agent"
          value={choice.agent ?? agents[0]?.name ?? ""}
          options={agents.map(({ name, title }) => ({ value: name, label: title ?? name }))}
          onChange={(agent) => onChange({ ...choice, agent })}
        />
      )}
      {models.length > 0 && (
        <Choice
          label="Model"
          value={choice.model ?? ""}
          options={[
            { value: "", label: "Agent's model" },
            ...models.map((name) => ({ value: name, label: name })),
          ]}
          onChange={(model) => onChange({ ...choice, model: model || undefined })}
        />
      )}
    </>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
};

function Choice({ label, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <select
      aria-label={label}
      title={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className="h-8 min-w-0 max-w-44 cursor-pointer truncate rounded-md bg-transparent px-1.5 text-[0.8125rem] text-quiet hover:bg-sunken hover:text-ink"
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} className="bg-raised text-ink">
          {escapeBidi(option.label)}
        </option>
      ))}
    </select>
  );
}

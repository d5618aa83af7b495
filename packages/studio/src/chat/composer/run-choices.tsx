import type { Effort } from "capstan";
import type { RunRequest } from "capstan/client";
import type { ReactNode } from "react";
import { useAbout } from "../../data/about.ts";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";

/** Agent, model and effort of the next run. The server or the agent chooses if undefined. */
export type RunChoice = {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly effort?: EffortLevel | undefined;
};

type EffortLevel = Exclude<Effort, number>;

const efforts: readonly { readonly value: EffortLevel; readonly label: string }[] = [
  { value: "none", label: "No reasoning" },
  { value: "low", label: "Low effort" },
  { value: "medium", label: "Medium effort" },
  { value: "high", label: "High effort" },
  { value: "xhigh", label: "Extra high effort" },
  { value: "max", label: "Maximum effort" },
];

/** Returns the choice as options of a run. */
export function toRunOptions({ agent, model, effort }: RunChoice): Omit<RunRequest, "input"> {
  return {
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { settings: { effort } }),
  };
}

type RunChoicesProps = {
  readonly choice: RunChoice;
  readonly hidesAgent: boolean;
  readonly onChange: (choice: RunChoice) => void;
};

/** Selects the agent, model and effort of the next run. */
export function RunChoices({ choice, hidesAgent, onChange }: RunChoicesProps): ReactNode {
  const { about, models: offeredModels } = useAbout();
  const agents = about?.agents ?? [];
  // A session keeps its model, also one that is not listed at the moment.
  const models = [...new Set([...offeredModels, ...(choice.model === undefined ? [] : [choice.model])])];
  return (
    <>
      {agents.length > 1 && !hidesAgent && (
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
      {about && (!about.isOffline || choice.model !== undefined) && (
        <Choice
          label="Effort"
          value={choice.effort ?? ""}
          options={[{ value: "", label: "Effort" }, ...efforts]}
          isShort
          onChange={(value) =>
            onChange({ ...choice, effort: efforts.find((effort) => effort.value === value)?.value })
          }
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
  /** Its labels are short, so that the others shrink on a phone. */
  readonly isShort?: boolean;
};

function Choice({ label, value, options, onChange, isShort = false }: ChoiceProps): ReactNode {
  return (
    <select
      aria-label={label}
      title={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={classNames(
        "field-sizing-content h-8 pointer-coarse:h-11 max-w-44 cursor-pointer truncate rounded-md bg-transparent px-1.5 text-small text-quiet hover:bg-sunken hover:text-ink",
        isShort ? "shrink-0" : "min-w-0",
      )}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value} className="bg-raised text-ink">
          {escapeBidi(option.label)}
        </option>
      ))}
    </select>
  );
}

import type { AgentParts } from "capstan/client";
import type { ReactNode } from "react";
import { escapeBidi } from "../ui/escape-text.ts";
import type { AgentDraft, FieldProblems } from "./agent-draft.ts";
import { ChoiceField, TextField } from "./agent-fields.tsx";
import { advancedSettings, emptySettings, type SettingsDraft } from "./settings-draft.ts";

type AgentSettingsProps = {
  readonly draft: AgentDraft;
  readonly onChange: (settings: SettingsDraft) => void;
  readonly problems: FieldProblems;
  readonly limits: AgentParts["settingsLimits"];
};

/** What to ask of the model. */
export function AgentSettings(props: AgentSettingsProps): ReactNode {
  const { draft, problems, limits } = props;
  const { settings } = draft;
  const bind = createBinding(props);
  const isUsed = advancedSettings.some((field) => settings[field] !== emptySettings[field]);
  const hasProblem = advancedSettings.some((field) => problems[`settings.${field}`] !== undefined);
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">Model settings</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField
          label="Effort"
          hint="How much the model reasons before it answers."
          choices={getEffortChoices(settings, limits)}
          {...bind("effort")}
        />
        {settings.effort === "tokens" && (
          <TextField
            label="Reasoning tokens"
            hint="Models that have levels use the nearest one."
            inputMode="numeric"
            {...bind("effortTokens")}
          />
        )}
        <TextField
          label="Temperature"
          hint="From 0 (steady) to 2 (varied)."
          inputMode="decimal"
          placeholder="Model default"
          {...bind("temperature")}
        />
        <TextField
          label="Max output tokens"
          hint="Limits each answer of the model."
          inputMode="numeric"
          placeholder={limits.maxOutputTokens === undefined ? "Model default" : `${limits.maxOutputTokens}`}
          {...bind("maxOutputTokens")}
        />
      </div>
      {/* Opens again when a problem in it is reported. */}
      <details key={String(hasProblem)} open={isUsed || hasProblem} className="mt-3">
        <summary className="w-fit cursor-pointer rounded-md text-sm text-quiet hover:text-ink">
          Advanced
        </summary>
        <AdvancedFields draft={draft} bind={bind} />
      </details>
      {problems.settings !== undefined && (
        <p role="alert" className="mt-2 text-sm text-bad [overflow-wrap:anywhere]">
          {escapeBidi(problems.settings)}
        </p>
      )}
    </fieldset>
  );
}

type Binding = <Field extends keyof SettingsDraft>(
  field: Field,
) => {
  readonly value: SettingsDraft[Field];
  readonly onValue: (value: SettingsDraft[Field]) => void;
  readonly problem: string | undefined;
};

/** Returns a function that connects an input with its field. */
function createBinding({ draft: { settings }, onChange, problems }: AgentSettingsProps): Binding {
  const isBudget = settings.effort === "tokens";
  const { "settings.effort": effort, ...others } = problems;
  const shown: FieldProblems = {
    ...others,
    [isBudget ? "settings.effortTokens" : "settings.effort"]: effort,
  };
  return (field) => ({
    value: settings[field],
    onValue: (value) => onChange({ ...settings, [field]: value }),
    problem: shown[`settings.${field}`],
  });
}

const levels = ["none", "low", "medium", "high", "xhigh", "max"] as const;
const levelLabels = {
  none: "None",
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
} as const;

/** Returns the levels up to the server's limit, and the current one. */
function getEffortChoices({ effort }: SettingsDraft, { effort: limit }: AgentParts["settingsLimits"]) {
  const last = typeof limit === "string" ? levels.indexOf(limit) : levels.length;
  return [
    { value: "" as const, label: "Model default" },
    ...levels
      .filter((level, index) => index <= last || level === effort)
      .map((value) => ({ value, label: levelLabels[value] })),
    { value: "tokens" as const, label: "A number of tokens" },
  ];
}

const modelDefault = { value: "", label: "Model default" } as const;
const parallelChoices = [
  modelDefault,
  { value: "true", label: "Several calls per answer" },
  { value: "false", label: "One call per answer" },
] as const;
const cacheChoices = [
  modelDefault,
  { value: "off", label: "Off" },
  { value: "short", label: "Minutes" },
  { value: "long", label: "Hours" },
] as const;

type AdvancedFieldsProps = { readonly draft: AgentDraft; readonly bind: Binding };

function AdvancedFields({ draft, bind }: AdvancedFieldsProps): ReactNode {
  return (
    <div className="mt-3 grid gap-4 sm:grid-cols-2">
      <TextField
        label="Top P"
        hint="Share of likely tokens to choose from, 0 to 1."
        inputMode="decimal"
        placeholder="Model default"
        {...bind("topP")}
      />
      <TextField
        label="Seed"
        hint="A whole number that makes answers repeatable, if the model can."
        inputMode="numeric"
        placeholder="None"
        {...bind("seed")}
      />
      <ChoiceField label="Tool choice" choices={getToolChoices(draft)} {...bind("toolChoice")} />
      <ChoiceField label="Parallel tool calls" choices={parallelChoices} {...bind("parallelToolCalls")} />
      <ChoiceField
        label="Cache"
        hint="How long the provider keeps the prompt."
        choices={cacheChoices}
        {...bind("cache")}
      />
      <TextField
        label="Service tier"
        hint="Price and speed: flex, priority, or the provider's own word."
        placeholder="Provider default"
        {...bind("serviceTier")}
      />
      <TextField
        label="Stop texts"
        hint="The model stops at these texts. One per line."
        rows={2}
        {...bind("stop")}
      />
      <TextField
        label="Log probabilities"
        hint="Alternatives to report for each token, 0 to 20."
        inputMode="numeric"
        placeholder="Off"
        {...bind("logprobs")}
      />
    </div>
  );
}

type ToolChoiceOption = { readonly value: SettingsDraft["toolChoice"]; readonly label: string };

/** A tool that the agent no longer has stays listed, so that the choice can be seen and changed. */
function getToolChoices({ tools, settings: { toolChoice } }: AgentDraft): readonly ToolChoiceOption[] {
  const chosen = toolChoice.startsWith("tool:") ? [toolChoice.slice("tool:".length)] : [];
  return [
    { value: "", label: "Model decides" },
    ...(toolChoice === "auto" ? [{ value: "auto", label: "Model decides (auto)" } as const] : []),
    { value: "required", label: "Call a tool first" },
    ...[...new Set([...tools, ...chosen])].map(
      (name): ToolChoiceOption => ({ value: `tool:${name}`, label: `Call ${escapeBidi(name)} first` }),
    ),
    { value: "none", label: "Call no tools" },
  ];
}

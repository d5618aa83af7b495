import type { Effort, ModelSettings } from "capstan";
import type { AgentData } from "capstan/agents";

type AgentSettings = NonNullable<AgentData["settings"]>;

/** Contents of the settings in the agent form. Numbers are text; empty leaves the choice to the model. */
export type SettingsDraft = {
  readonly effort: "" | Exclude<Effort, number> | "tokens";
  readonly effortTokens: string;
  readonly temperature: string;
  readonly maxOutputTokens: string;
  readonly topP: string;
  readonly seed: string;
  /** One text per line. */
  readonly stop: string;
  /** `tool:` is followed by the name of a tool. */
  readonly toolChoice: "" | "auto" | "required" | "none" | `tool:${string}`;
  readonly parallelToolCalls: "" | "true" | "false";
  readonly cache: "" | "off" | "short" | "long";
  readonly serviceTier: string;
  readonly logprobs: string;
};

export const emptySettings: SettingsDraft = {
  ...{ effort: "", effortTokens: "", temperature: "", maxOutputTokens: "", topP: "", seed: "", stop: "" },
  ...{ toolChoice: "", parallelToolCalls: "", cache: "", serviceTier: "", logprobs: "" },
};

/** The settings under "Advanced". */
export const advancedSettings: readonly (keyof SettingsDraft)[] = [
  ...(["topP", "seed", "stop", "toolChoice", "parallelToolCalls"] as const),
  ...(["cache", "serviceTier", "logprobs"] as const),
];

/** Converts settings to form contents. */
export function toSettingsDraft(settings: AgentSettings = {}): SettingsDraft {
  const { effort = "", stop = [], toolChoice = "", logprobs, parallelToolCalls, cache = "" } = settings;
  const toText = (value: unknown) => (value === undefined ? "" : String(value));
  return {
    effort: typeof effort === "number" ? "tokens" : effort,
    effortTokens: typeof effort === "number" ? String(effort) : "",
    temperature: toText(settings.temperature),
    maxOutputTokens: toText(settings.maxOutputTokens),
    topP: toText(settings.topP),
    seed: toText(settings.seed),
    stop: [stop].flat().join("\n"),
    toolChoice: typeof toolChoice === "object" ? `tool:${toolChoice.tool}` : toolChoice,
    parallelToolCalls: parallelToolCalls === undefined ? "" : parallelToolCalls ? "true" : "false",
    cache,
    serviceTier: settings.serviceTier ?? "",
    logprobs: logprobs === true ? "0" : logprobs === false ? "" : toText(logprobs),
  };
}

/** Converts form contents to settings; undefined if none is set. */
export function toSettings(draft: SettingsDraft): AgentSettings | undefined {
  const { effort, toolChoice, parallelToolCalls, cache } = draft;
  const stops = draft.stop.split("\n").filter((text) => text !== "");
  const settings: { [Field in keyof ModelSettings]: ModelSettings[Field] | undefined } = {
    effort: effort === "tokens" ? (parseSettingNumber(draft.effortTokens) ?? 0) : effort || undefined,
    temperature: parseSettingNumber(draft.temperature),
    maxOutputTokens: parseSettingNumber(draft.maxOutputTokens),
    topP: parseSettingNumber(draft.topP),
    seed: parseSettingNumber(draft.seed),
    stop: stops.length > 0 ? stops : undefined,
    toolChoice: toToolChoice(toolChoice),
    parallelToolCalls: parallelToolCalls === "" ? undefined : parallelToolCalls === "true",
    cache: cache || undefined,
    serviceTier: draft.serviceTier.trim() || undefined,
    logprobs: parseSettingNumber(draft.logprobs),
  };
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return set.length > 0 ? Object.fromEntries(set) : undefined;
}

function toToolChoice(choice: SettingsDraft["toolChoice"]): ModelSettings["toolChoice"] {
  if (choice === "auto" || choice === "required" || choice === "none") return choice;
  return choice === "" ? undefined : { tool: choice.slice("tool:".length) };
}

/** Passes invalid numbers on, so that the server rejects them. */
function parseSettingNumber(text: string): number | undefined {
  if (text.trim() === "") return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : (text.trim() as unknown as number);
}

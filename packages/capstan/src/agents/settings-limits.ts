import { checkFields } from "../definition.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { checkSettings, type Effort, type ModelSettings } from "../settings/settings.ts";

/** The most that requests and stored agents may ask of a model. Fields that are not set are not limited. */
export type SettingsLimits = Pick<ModelSettings, "effort" | "maxOutputTokens">;

/** How levels of effort compare with budgets in tokens. */
const levelTokens = { none: 0, low: 2048, medium: 8192, high: 24_576 } as const;

/** Returns the limits. Throws `invalid_definition` if they are invalid. */
export function checkSettingsLimits(limits: SettingsLimits): SettingsLimits {
  checkFields("settings limits", limits, ["effort", "maxOutputTokens"]);
  return checkSettings("settings limits", limits);
}

/** Returns requested settings. Throws `invalid_input` if they are invalid or exceed the limits. */
export function readSettings(settings: unknown, limits: SettingsLimits): ModelSettings {
  const problem = findSettingsProblem(settings, limits);
  if (problem !== undefined) throw new AgentError("invalid_input", problem);
  return settings as ModelSettings;
}

/** Returns what is wrong with requested settings, or undefined. */
export function findSettingsProblem(settings: unknown, limits: SettingsLimits): string | undefined {
  try {
    const [field] = listExcesses(checkSettings("request", settings), limits);
    if (field === undefined) return undefined;
    const value = JSON.stringify((settings as ModelSettings)[field]);
    return `settings.${field} cannot be ${value}: the maximum is ${JSON.stringify(limits[field])}.`;
  } catch (thrown) {
    return describeThrown(thrown, "invalid_input").message;
  }
}

/** Returns the settings with the limit in each field that exceeds it. */
export function clampSettings(settings: ModelSettings, limits: SettingsLimits): ModelSettings {
  const excesses = listExcesses(settings, limits).map((field) => [field, limits[field]]);
  return { ...settings, ...Object.fromEntries(excesses) };
}

function listExcesses(settings: ModelSettings, limits: SettingsLimits): readonly (keyof SettingsLimits)[] {
  return (["effort", "maxOutputTokens"] as const).filter((field) => {
    const [value, limit] = [settings[field], limits[field]];
    return value !== undefined && limit !== undefined && countTokens(value) > countTokens(limit);
  });
}

function countTokens(amount: Effort): number {
  return typeof amount === "number" ? amount : levelTokens[amount];
}

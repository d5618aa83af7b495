import { checkFields, formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { measureEffort } from "../kernel/settings/effort.ts";
import {
  checkSettings,
  type ModelSettings,
  settingNames,
  settingRules,
} from "../kernel/settings/settings.ts";

/** The most that requests and stored agents may ask of a model. Fields that are not set are not limited. */
export type SettingsLimits = Pick<ModelSettings, "effort" | "maxOutputTokens">;

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

/** Returns what is wrong with requested settings, as a sentence that starts with the field, or undefined. */
export function findSettingsProblem(settings: unknown, limits: SettingsLimits): string | undefined {
  if (!isRecord(settings)) return "settings must be an object.";
  for (const [field, value] of Object.entries(settings)) {
    const rule = settingNames.find((name) => name === field);
    if (!rule) return `settings.${field} is unknown.${suggestName(field, settingNames)}`;
    const { accepts, hint } = settingRules[rule];
    if (value !== undefined && !accepts(value))
      return `settings.${field} cannot be ${formatValue(value)}: use ${hint}.`;
  }
  const [field] = listExcesses(settings, limits);
  if (field === undefined) return undefined;
  return `settings.${field} cannot be ${formatValue(settings[field])}: the maximum is ${formatValue(limits[field])}.`;
}

/** Returns the settings with the limit in each field that exceeds it. */
export function clampSettings(settings: ModelSettings, limits: SettingsLimits): ModelSettings {
  const excesses = listExcesses(settings, limits).map((field) => [field, limits[field]]);
  return { ...settings, ...Object.fromEntries(excesses) };
}

function listExcesses(settings: ModelSettings, limits: SettingsLimits): readonly (keyof SettingsLimits)[] {
  return (["effort", "maxOutputTokens"] as const).filter((field) => {
    const [value, limit] = [settings[field], limits[field]];
    return value !== undefined && limit !== undefined && measureEffort(value) > measureEffort(limit);
  });
}

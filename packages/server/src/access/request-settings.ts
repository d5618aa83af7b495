import { type Agent, AgentError, type ModelSettings, type PolicyOverrides } from "capstan";
import { clampSettings, readSettings, type SettingsLimits } from "capstan/agents";
import type { Caller } from "./caller.ts";

export type SettingsRequest = {
  readonly settings?: unknown;
  /** The policy of the same request: `thinking: "on"` asks for effort too. */
  readonly policy?: unknown;
};

type RequestContext = { readonly agent: Agent; readonly settingsLimits: SettingsLimits };

/** Service tiers that cost no more than the usual one. */
const openTiers: readonly unknown[] = [undefined, "auto", "default", "flex"];

/**
 * Returns the settings that a request asks for, as an option of the run. Throws `invalid_input` if they are invalid or
 * exceed the operator's limits. Only admins may send what goes to the provider unchecked or costs more per token.
 */
export function readRequestSettings(
  { settings: requested = {}, policy }: SettingsRequest,
  { isAdmin }: Caller,
  { agent, settingsLimits }: RequestContext,
): { readonly settings?: ModelSettings } {
  const thinks = (policy as { readonly thinking?: unknown } | undefined)?.thinking === "on";
  const settings = readSettings(requested, {});
  readSettings({ ...(thinks && { effort: "medium" }), ...settings }, settingsLimits);
  if (!isAdmin && settings.extra !== undefined) throw createForbiddenError("extra");
  if (!isAdmin && !openTiers.includes(settings.serviceTier)) throw createForbiddenError("serviceTier");
  assertNamedTool(agent, settings);
  return Object.keys(settings).length > 0 ? { settings } : {};
}

function createForbiddenError(field: string): AgentError {
  return new AgentError("forbidden", `settings.${field} requires an admin key. Remove the field.`);
}

function assertNamedTool({ name, tools, toolSource }: Agent, { toolChoice }: ModelSettings): void {
  if (typeof toolChoice !== "object") return;
  const { tool } = toolChoice;
  if (toolSource ? toolSource().some((own) => own.name === tool) : tools.has(tool)) return;
  const message = `settings.toolChoice names an unknown tool: agent "${name}" has no "${tool}".`;
  throw new AgentError("invalid_input", message);
}

/**
 * Converts the settings of a client of another API. It cannot know the operator's limits, so a value beyond a limit
 * becomes the limit. Its output limit is a limit of the whole answer.
 */
export function toRunOptions(
  settings: ModelSettings,
  limits: SettingsLimits,
): { readonly settings: ModelSettings; readonly policy: PolicyOverrides } {
  const policy = settings.maxOutputTokens === undefined ? {} : ({ onOutputLimit: "stop" } as const);
  return { settings: clampSettings(settings, limits), policy };
}

import { isRecord, type Json } from "../../base/json.ts";
import type { Entry } from "../../kernel/history.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import {
  type ClaudeTraits,
  findClaudeEffort,
  findClaudeTraits,
  hasServiceTiers,
  minThinkingBudget,
} from "../../kernel/settings/claude-models.ts";
import { toBudget } from "../../kernel/settings/effort.ts";
import type { ToolChoice } from "../../kernel/settings/settings.ts";
import { isForcedChoice, type WireSettings } from "../wire.ts";
import { anthropicToolNames, toAssistantBlocks } from "./content.ts";
import { findMaxOutputTokens } from "./output-limit.ts";

export type Extra = { readonly [field: string]: Json };

/** Other models behind the API. Most servers know the first form of thinking, and the rest is left to them. */
const unknownModel: ClaudeTraits = {
  thinking: "budget",
  off: "disabled",
  thinksByDefault: false,
  highLevels: [],
  sampling: "both",
  acceptsForcedCalls: true,
};

type FieldContext = {
  readonly maxTokens: number;
  readonly thinking: Json | undefined;
  readonly resendsThinking: boolean;
};

/** Builds the fields that depend on what the model accepts. The `thinking` of `extra` replaces ours. */
export function buildSettingFields(
  request: ModelRequest,
  settings: WireSettings,
  { maxTokens, thinking: extraThinking, resendsThinking }: FieldContext,
): Extra & { readonly output_config?: Extra } {
  const claude = getTraits(settings);
  const wanted = extraThinking ?? withBinding(chooseThinking(request, settings, claude), resendsThinking);
  const thinking = isRecord(wanted) && !canThink(request, wanted.type, claude) ? undefined : wanted;
  const isThinking = isRecord(thinking) && thinking.type !== "disabled";
  const effort = chooseEffort(settings, claude);
  return {
    ...fitBudget(settings.model, maxTokens, thinking),
    ...(!isThinking && buildSampling(settings, claude)),
    ...(settings.stop !== undefined && { stop_sequences: [settings.stop].flat() }),
    ...buildServiceTier(settings),
    ...(effort && { output_config: { effort } }),
  };
}

function getTraits({ model }: WireSettings): ClaudeTraits {
  return findClaudeTraits(model) ?? unknownModel;
}

/** A thinking budget counts towards `max_tokens` and must be below it, and both below the model's own maximum. */
function fitBudget(model: string, maxTokens: number, thinking: Json | undefined): Extra {
  if (thinking === undefined) return { max_tokens: maxTokens };
  if (!isRecord(thinking) || typeof thinking.budget_tokens !== "number")
    return { max_tokens: maxTokens, thinking };
  const { budget_tokens: budget } = thinking;
  if (maxTokens > budget) return { max_tokens: maxTokens, thinking };
  const maximum = findMaxOutputTokens(model) ?? Number.POSITIVE_INFINITY;
  if (budget + maxTokens <= maximum) return { max_tokens: budget + maxTokens, thinking };
  const fitting = Math.min(budget, maximum - minThinkingBudget);
  return { max_tokens: maximum, thinking: { ...(thinking as Extra), budget_tokens: fitting } };
}

/**
 * Returns the thinking that the settings order or the turn wishes for. The wish of a turn yields to a temperature, which
 * the API rejects while thinking.
 */
function chooseThinking(
  { thinking: isWished, toolChoice }: ModelRequest,
  { model, effort: ordered, temperature, topP }: WireSettings,
  claude: ClaudeTraits,
): Extra | undefined {
  const hasSampling = claude.sampling !== "none" && (temperature ?? topP) !== undefined;
  const canFollowWish = isWished && !hasSampling && findClaudeTraits(model) !== undefined;
  const effort = ordered ?? (canFollowWish ? "medium" : undefined);
  if (effort === "none" || (claude.thinksByDefault && isForced(toolChoice, claude)))
    return claude.off === "disabled" || claude.off === "between_tools" ? { type: claude.off } : undefined;
  if (effort === undefined || claude.thinking === "none") return undefined;
  const isAdaptive =
    claude.thinking === "adaptive" || (claude.thinking === "both" && typeof effort !== "number");
  // By default, newer models think in silence.
  if (isAdaptive) return { type: "adaptive", display: "summarized" };
  return { type: "enabled", budget_tokens: Math.max(minThinkingBudget, toBudget(effort)) };
}

/**
 * Lets the API drop thinking that no longer fits the request, instead of rejecting the request: notes, compaction
 * and withdrawn tools change what came before. Adaptive thinking is the default of the models that need it.
 */
function withBinding(thinking: Extra | undefined, resendsThinking: boolean): Extra | undefined {
  if (!resendsThinking || (thinking !== undefined && thinking.type !== "adaptive")) return thinking;
  return { type: "adaptive", ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } };
}

/**
 * Whether the API accepts thinking here: not while a tool call is forced, and a fixed budget not within a turn whose
 * assistant message does not start with thinking, as when another provider wrote it.
 */
function canThink({ history, toolChoice }: ModelRequest, type: unknown, claude: ClaudeTraits): boolean {
  if (type === "disabled" || type === "between_tools") return true;
  return !isForced(toolChoice, claude) && (type !== "enabled" || !isWithinForeignTurn(history));
}

function isWithinForeignTurn(history: readonly Entry[]): boolean {
  if (history.at(-1)?.type !== "result") return false;
  const last = history.findLast((entry) => entry.type === "assistant");
  const first = last && toAssistantBlocks(last, ({ id }) => id)[0];
  return isRecord(first) && first.type !== "thinking" && first.type !== "redacted_thinking";
}

function isForced(toolChoice: ToolChoice, { acceptsForcedCalls }: ClaudeTraits): boolean {
  return acceptsForcedCalls && isForcedChoice(toolChoice);
}

function chooseEffort({ effort }: WireSettings, claude: ClaudeTraits): string | undefined {
  const { thinking, off } = claude;
  if (effort === "none") return off === "never" ? "low" : undefined;
  if (effort === undefined || thinking === "none" || thinking === "budget") return undefined;
  return thinking === "both" && typeof effort === "number" ? undefined : findClaudeEffort(claude, effort);
}

function buildSampling({ temperature, topP }: WireSettings, { sampling }: ClaudeTraits): Extra {
  if (sampling === "none") return {};
  const hasTopP = topP !== undefined && (sampling === "both" || temperature === undefined);
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(hasTopP && { top_p: topP }),
  };
}

const serviceTiers: ReadonlyMap<string, string> = new Map([
  ["default", "standard_only"],
  ["priority", "auto"],
]);

function buildServiceTier({ serviceTier: tier, model }: WireSettings): Extra {
  return tier === undefined || tier === "flex" || !hasServiceTiers(model)
    ? {}
    : { service_tier: serviceTiers.get(tier) ?? tier };
}

/** Builds a tool choice that forces a call; undefined for a model that rejects one, and decides itself. */
export function buildForcedChoice({ toolChoice }: ModelRequest, settings: WireSettings): Extra | undefined {
  if (!isForced(toolChoice, getTraits(settings))) return undefined;
  return typeof toolChoice === "object"
    ? { type: "tool", name: anthropicToolNames.encodeName(toolChoice.tool) }
    : { type: "any" };
}

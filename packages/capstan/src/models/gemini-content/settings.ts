import type { ModelRequest } from "../../kernel/model.ts";
import { toBudget, toCommonLevel } from "../../kernel/settings/effort.ts";
import { type GeminiTraits, getGeminiTraits } from "../../kernel/settings/gemini-models.ts";
import type { Effort } from "../../kernel/settings/settings.ts";
import type { WireSettings } from "../wire.ts";
import { toGeminiSchema } from "./tool-schema.ts";

type Fields = Record<string, unknown>;

/** Builds `generationConfig`: everything that the request asks of the model, except its tools. */
export function buildGenerationConfig(request: ModelRequest, settings: WireSettings): Fields {
  const { output, tools } = request;
  const { temperature, topP, stop, seed, maxOutputTokens } = settings;
  const gemini = getGeminiTraits(settings.model);
  return {
    ...(temperature !== undefined && !gemini.isStrict && { temperature }),
    ...(topP !== undefined && !gemini.isStrict && { topP }),
    ...(stop !== undefined && { stopSequences: [stop].flat() }),
    ...(seed !== undefined && { seed }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(gemini.reportsLogprobs && buildLogprobs(settings.logprobs)),
    // Most models reject an output schema together with functions.
    ...(output &&
      tools.length === 0 && {
        responseMimeType: "application/json",
        responseJsonSchema: toGeminiSchema(output),
      }),
    ...buildThinking(request, settings.effort, gemini),
  };
}

function buildLogprobs(logprobs: WireSettings["logprobs"]): Fields {
  if (logprobs === undefined || logprobs === false) return {};
  return { responseLogprobs: true, ...(typeof logprobs === "number" && logprobs > 0 && { logprobs }) };
}

function buildThinking(
  { thinking: isWished }: ModelRequest,
  effort: Effort | undefined,
  gemini: GeminiTraits,
): Fields {
  if (gemini.thinking === "none" || (effort === undefined && !isWished)) return {};
  const amount = effort === undefined ? {} : buildAmount(effort, gemini);
  return { thinkingConfig: { ...amount, ...(effort !== "none" && { includeThoughts: true }) } };
}

function buildAmount(effort: Effort, gemini: GeminiTraits): Fields {
  if (gemini.thinking === "levels") return { thinkingLevel: chooseLevel(effort, gemini).toUpperCase() };
  const { minimum, maximum } = gemini.budget;
  const wanted = effort === "none" ? 0 : toBudget(effort);
  return { thinkingBudget: Math.min(Math.max(wanted, minimum), maximum) };
}

function chooseLevel(effort: Effort, { lowestLevel, hasMediumLevel }: GeminiTraits): string {
  const level = toCommonLevel(effort);
  if (level === "none") return lowestLevel;
  return level === "medium" && !hasMediumLevel ? "high" : level;
}

const serviceTiers: ReadonlyMap<string, string> = new Map([["default", "standard"]]);

/** Builds the field of the service tier; `auto` leaves the choice to the provider. */
export function buildServiceTier(tier: string | undefined): Fields {
  return tier === undefined || tier === "auto" ? {} : { serviceTier: serviceTiers.get(tier) ?? tier };
}

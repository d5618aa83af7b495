import type { ModelRequest } from "../../kernel/model.ts";
import {
  acceptsSampling,
  buildCacheFields,
  findReasoning,
  resolveOpenAiEffort,
} from "../../kernel/settings/openai-models.ts";
import type { WireSettings } from "../wire.ts";

type Fields = { readonly [field: string]: unknown };
type SettingFields = { readonly fields: Fields; readonly include: readonly string[] };

/** Builds the fields for the settings that the model accepts. */
export function buildResponsesSettings(
  { thinking, tools, hosted }: ModelRequest,
  settings: WireSettings,
  hasReasoning: boolean,
): SettingFields {
  const { model, maxOutputTokens, temperature, topP, parallelToolCalls, serviceTier, cache } = settings;
  const effort = resolveOpenAiEffort(model, settings, thinking);
  const isReasoning = effort !== undefined && effort !== "none";
  // Not for a wish: OpenAI may refuse summaries to organizations that it has not verified.
  const wantsSummary = isReasoning && settings.effort !== undefined && settings.effort !== "none";
  const isSampled = acceptsSampling(model, settings);
  const logprobs = isSampled && settings.logprobs;
  const include: string[] = [];
  // The API rejects the item of a hosted call without the reasoning before it.
  const isSentBack = hasReasoning || hosted !== undefined;
  if (isReasoning || (isSentBack && findReasoning(model) !== false))
    include.push("reasoning.encrypted_content");
  if (logprobs !== undefined && logprobs !== false) include.push("message.output_text.logprobs");
  const fields = {
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(isSampled && temperature !== undefined && { temperature }),
    ...(isSampled && topP !== undefined && { top_p: topP }),
    ...(typeof logprobs === "number" && { top_logprobs: logprobs }),
    ...(effort && { reasoning: { effort, ...(wantsSummary && { summary: "auto" }) } }),
    ...(parallelToolCalls !== undefined && tools.length > 0 && { parallel_tool_calls: parallelToolCalls }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(cache && buildCacheFields(model, cache, "openai-responses")),
  };
  return { fields, include };
}

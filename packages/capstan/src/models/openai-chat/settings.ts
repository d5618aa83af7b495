import type { ModelRequest } from "../../kernel/model.ts";
import {
  acceptsParallelCalls,
  acceptsSampling,
  buildCacheFields,
  findReasoning,
  resolveOpenAiEffort,
} from "../../kernel/settings/openai-models.ts";
import { buildEffortFields } from "../../kernel/settings/servers.ts";
import type { WireSettings } from "../wire.ts";
import type { ChatQuirks } from "./quirks.ts";

type Fields = { readonly [field: string]: unknown };

/** Builds the fields for the settings that the server and the model accept. */
export function buildChatSettings(request: ModelRequest, settings: WireSettings, quirks: ChatQuirks): Fields {
  const { maxOutputTokens, topP, temperature, stop, seed, parallelToolCalls, serviceTier, logprobs } =
    settings;
  const { isSampled, canStop, canLimitCalls, ...own } = quirks.isOpenAi
    ? buildOpenAiFields(request, settings)
    : buildServerFields(request, settings, quirks);
  const wantsLogprobs =
    isSampled && quirks.logprobs !== false && logprobs !== undefined && logprobs !== false;
  return {
    ...(maxOutputTokens !== undefined && { [quirks.maxTokensField ?? "max_tokens"]: maxOutputTokens }),
    ...(isSampled && temperature !== undefined && { temperature }),
    ...(isSampled && topP !== undefined && { top_p: topP }),
    ...(canStop && stop !== undefined && { stop }),
    ...(seed !== undefined && { [quirks.seedField ?? "seed"]: seed }),
    ...(canLimitCalls && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(wantsLogprobs && { logprobs: true }),
    ...(wantsLogprobs && typeof logprobs === "number" && { top_logprobs: logprobs }),
    ...own.fields,
  };
}

type ServerRules = {
  readonly isSampled: boolean;
  readonly canStop: boolean;
  readonly canLimitCalls: boolean;
  readonly fields: Fields;
};

function buildOpenAiFields({ thinking, tools }: ModelRequest, settings: WireSettings): ServerRules {
  const { model, cache } = settings;
  const effort = resolveOpenAiEffort(model, settings, thinking);
  return {
    isSampled: acceptsSampling(model, settings),
    canStop: findReasoning(model) !== true,
    canLimitCalls: tools.length > 0 && acceptsParallelCalls(model),
    fields: {
      ...(effort && { reasoning_effort: effort }),
      ...(cache && buildCacheFields(model, cache, "openai-chat")),
    },
  };
}

function buildServerFields(
  { thinking, tools }: ModelRequest,
  { model, effort, cache = "short" }: WireSettings,
  quirks: ChatQuirks,
): ServerRules {
  const modelFields = quirks.modelFields?.find(({ models }) => models.test(model))?.fields;
  const fields = {
    ...modelFields,
    ...buildEffortFields(model, { effort, thinking }, quirks),
    ...(cache !== "off" &&
      quirks.cacheControl?.test(model) && {
        cache_control: { type: "ephemeral", ...(cache === "long" && { ttl: "1h" }) },
      }),
  };
  return { isSampled: true, canStop: true, canLimitCalls: tools.length > 0, fields };
}

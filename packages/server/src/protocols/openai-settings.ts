import { type Effort, effortLevels, type ModelSettings, type TokenLogprob } from "capstan";
import { z } from "zod";

/* What clients of OpenAI's APIs ask of the model. The agent's own settings apply to the other fields. */

/** OpenAI's levels and the nearest ones of a run's settings. */
const levels: { readonly [level: string]: Effort } = {
  ...Object.fromEntries(effortLevels.map((level) => [level, level])),
  minimal: "low",
};
const effort = z.enum(Object.keys(levels)).transform((level) => levels[level]);
const tokens = z.int().min(1).max(1_000_000_000);
const commonFields = {
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  service_tier: z.string().min(1).max(100).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
};

/** A part of a request body. */
type SettingsPart = z.ZodType<{ readonly settings: ModelSettings }>;

export const completionSettings: SettingsPart = z
  .object({
    ...commonFields,
    stop: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(16)]).nullish(),
    seed: z.int().nullish(),
    max_tokens: tokens.nullish(),
    max_completion_tokens: tokens.nullish(),
    reasoning_effort: effort.nullish(),
    logprobs: z.boolean().nullish(),
  })
  .transform((body) => ({
    settings: pickSet({
      ...toCommonSettings(body),
      stop: body.stop,
      seed: body.seed,
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      effort: body.reasoning_effort,
      logprobs: body.logprobs ? (body.top_logprobs ?? true) : undefined,
    }),
  }));

export const responseSettings: SettingsPart = z
  .object({
    ...commonFields,
    max_output_tokens: tokens.nullish(),
    reasoning: z.object({ effort: effort.nullish() }).nullish(),
    include: z.array(z.string().max(200)).max(100).nullish(),
  })
  .transform((body) => ({
    settings: pickSet({
      ...toCommonSettings(body),
      maxOutputTokens: body.max_output_tokens,
      effort: body.reasoning?.effort,
      logprobs: body.include?.includes("message.output_text.logprobs")
        ? (body.top_logprobs ?? true)
        : undefined,
    }),
  }));

type Unset<Settings> = { readonly [Field in keyof Settings]: Settings[Field] | null | undefined };

function toCommonSettings(body: z.output<z.ZodObject<typeof commonFields>>): Unset<ModelSettings> {
  return {
    temperature: body.temperature,
    topP: body.top_p,
    parallelToolCalls: body.parallel_tool_calls,
    serviceTier: body.service_tier,
  };
}

function pickSet(settings: Unset<ModelSettings>): ModelSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value != null));
}

/** Converts log probabilities to the form of both APIs. */
export function formatLogprobs(logprobs: readonly TokenLogprob[]): readonly object[] {
  return logprobs.map(({ top = [], ...token }) => ({
    ...withBytes(token),
    top_logprobs: top.map(withBytes),
  }));
}

function withBytes({ token, logprob }: Pick<TokenLogprob, "token" | "logprob">): object {
  return { token, logprob, bytes: [...new TextEncoder().encode(token)] };
}

import { estimateTextTokens, estimateTokens } from "../kernel/history.ts";
import type { Model, ModelRequest } from "../kernel/model.ts";
import { createRateLimiter, type RateLimiter, type RateLimiterOptions } from "./rate-limiter.ts";

export {
  checkRateLimits,
  createRateLimiter,
  type RateLimiter,
  type RateLimiterOptions,
  type RateReservation,
} from "./rate-limiter.ts";
export type { RateLimits, RateWindow } from "./rate-record.ts";

export type RateLimitOptions = Omit<RateLimiterOptions, "key"> & {
  /**
   * Identifies the account that the limits belong to, such as a name or its API key: models with the same key share the
   * limits. The store gets a hash of it. Default: the provider of the model.
   */
  readonly key?: string;
};

/**
 * Limits the calls of a model in all processes that share the store. A call beyond a limit is not sent, and fails with
 * `model_rate_limited`: the run waits and repeats it, as it does when the provider answers 429.
 */
export function withRateLimit(model: Model, limit: RateLimitOptions | RateLimiter): Model {
  const limiter = "reserve" in limit ? limit : createRateLimiter({ key: getProvider(model.id), ...limit });
  return {
    id: model.id,
    checkSettings: (settings) => model.checkSettings?.(settings) ?? [],
    checkHosted: (request) => model.checkHosted?.(request) ?? [],
    acceptsMedia: (part) => model.acceptsMedia?.(part) ?? true,
    ...(model.files && { files: model.files }),
    ...(model.embed && { embed: model.embed.bind(model) }),
    ...(model.rerank && { rerank: model.rerank.bind(model) }),
    async *stream(request, options) {
      const { settle } = await limiter.reserve(estimateCallTokens(request));
      let used: number | undefined;
      try {
        for await (const batch of model.stream(request, options)) {
          for (const chunk of batch)
            if (chunk.type === "usage") used = chunk.usage.inputTokens + chunk.usage.outputTokens;
          yield batch;
        }
      } finally {
        if (used !== undefined) settle(used);
      }
    },
  };
}

/** Returns the provider in the id of a model, such as `openai` of `openai/gpt-5-mini`. */
export function getProvider(modelId: string): string {
  const slash = modelId.indexOf("/");
  return slash === -1 ? modelId : modelId.slice(0, slash);
}

/** Most answers are shorter. */
const expectedOutputTokens = 1_000;

function estimateCallTokens({
  instructions,
  history,
  tools,
  settings,
  maxOutputTokens,
}: ModelRequest): number {
  const output = Math.min(expectedOutputTokens, maxOutputTokens ?? settings?.maxOutputTokens ?? Infinity);
  const fixed =
    estimateTextTokens(instructions) + (tools.length && estimateTextTokens(JSON.stringify(tools)));
  return fixed + estimateTokens(history) + output;
}

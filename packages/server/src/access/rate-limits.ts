import { AgentError, isRecord, type Model, type Store } from "capstan";
import {
  checkRateLimits,
  createRateLimiter,
  getProvider,
  type RateLimiter,
  type RateLimits,
  withRateLimit,
} from "capstan/models/rate-limit";

/** Limits by the provider in the name of a model, such as `openai`. */
export type ProviderRateLimits = { readonly [provider: string]: RateLimits };

/** Keeps the model calls of all processes on the store within the limits of their providers. */
export interface ModelLimits {
  /** Returns the model with the limits of its provider. */
  limitModel(model: Model): Model;
  close(): Promise<void>;
}

/** Throws `invalid_definition` for invalid limits. */
export function createModelLimits(store: Store, limits: ProviderRateLimits): ModelLimits {
  const limiters = new Map<string, RateLimiter>();
  for (const [provider, own] of Object.entries(limits)) {
    if (!isRecord(own))
      throw new AgentError("invalid_definition", `The rate limits of "${provider}" must be an object.`);
    limiters.set(provider, createRateLimiter({ ...checkRateLimits(own), store, key: provider }));
  }
  return {
    limitModel(model) {
      const limiter = limiters.get(getProvider(model.id));
      return limiter ? withRateLimit(model, limiter) : model;
    },
    async close() {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}

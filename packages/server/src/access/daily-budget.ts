import {
  AgentError,
  type Event,
  type Json,
  type PolicyOverrides,
  type Store,
  systemClock,
  type Usage,
} from "capstan";
import type { Caller } from "./caller.ts";

/** Usage per user and day, shared by all processes on the store. */
export interface DailyBudget {
  /**
   * Lowers the policy's budget to the caller's remaining budget of today. Throws `rate_limited` when it is used up.
   */
  clampPolicy(caller: Caller, policy: PolicyOverrides): Promise<PolicyOverrides>;
  /** Adds usage; see `findRunUsage`. */
  addUsage(scope: string, usage: Usage): Promise<void>;
}

type DailyUsage = { readonly tokens: number; readonly cost: number };

const usageKind = "spent";
const dayMs = 86_400_000;
const maxAttempts = 20;

/** Stores usage by day (UTC) and user. */
export function createDailyBudget(store: Store, now: () => number = systemClock.now): DailyBudget {
  const buildRecordId = (scope: string) => `${new Date(now()).toISOString().slice(0, 10)} ${scope}`;
  /** Serializes this process's writes to avoid version conflicts among its own runs. */
  let last: Promise<void> = Promise.resolve();

  async function addToRecord(id: string, { tokens, cost }: DailyUsage, attempt = 1): Promise<void> {
    const record = await store.getRecord(usageKind, id);
    const before = parseUsage(record?.body);
    const body: Json = { tokens: before.tokens + tokens, cost: before.cost + cost };
    try {
      await store.putRecord({ kind: usageKind, id, body, replaces: true }, record?.version ?? 0);
    } catch (thrown) {
      if (!isConflict(thrown) || attempt >= maxAttempts) throw thrown;
      await addToRecord(id, { tokens, cost }, attempt + 1); // another process updated the record
    }
  }

  return {
    async clampPolicy({ scope, limits }, policy) {
      const { tokensPerDay, costPerDay } = limits;
      if (tokensPerDay === Number.POSITIVE_INFINITY && costPerDay === Number.POSITIVE_INFINITY) return policy;
      const { tokens, cost } = parseUsage((await store.getRecord(usageKind, buildRecordId(scope)))?.body);
      const remaining = { tokens: tokensPerDay - tokens, cost: costPerDay - cost };
      if (remaining.tokens <= 0 || remaining.cost <= 0)
        throw createBudgetError(remaining.tokens <= 0, limits, dayMs - (now() % dayMs));
      const { budget } = policy;
      return {
        ...policy,
        budget: {
          ...budget,
          ...lowerLimit("tokens", budget?.tokens, remaining.tokens),
          ...lowerLimit("cost", budget?.cost, remaining.cost),
        },
      };
    },
    addUsage(scope, { inputTokens, outputTokens, cost = 0 }) {
      const id = buildRecordId(scope);
      const written = last.then(() => addToRecord(id, { tokens: inputTokens + outputTokens, cost }));
      last = written.catch(() => undefined);
      return written;
    },
  };
}

/**
 * Returns the usage that an event adds. The end of a run adds the run's total. A retry subtracts it again, because the
 * next end includes it. So usage is counted once, no matter which processes execute the run.
 */
export function findRunUsage(event: Event): Usage | undefined {
  if (event.parentRunId !== undefined) return undefined;
  if (event.type === "done") return { ...event.usage, cost: event.cost };
  if (event.type !== "retried" || !event.usageBefore) return undefined;
  const { inputTokens, outputTokens, cost = 0 } = event.usageBefore;
  return { inputTokens: -inputTokens, outputTokens: -outputTokens, cost: -cost };
}

function parseUsage(body: Json | undefined): DailyUsage {
  const { tokens, cost } = (body ?? {}) as Partial<DailyUsage>;
  return { tokens: Number(tokens) || 0, cost: Number(cost) || 0 };
}

function lowerLimit(
  field: "tokens" | "cost",
  requested: number | "unlimited" | undefined,
  remaining: number,
): object {
  if (remaining === Number.POSITIVE_INFINITY) return {};
  return { [field]: typeof requested === "number" ? Math.min(requested, remaining) : remaining };
}

function createBudgetError(byTokens: boolean, limits: Caller["limits"], retryAfterMs: number): AgentError {
  const limit = byTokens ? `${limits.tokensPerDay} tokens` : `$${limits.costPerDay}`;
  const message = `Daily limit reached (${limit}). It resets at midnight UTC.`;
  return new AgentError("rate_limited", message, { retryAfterMs });
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof AgentError && thrown.code === "position_conflict";
}

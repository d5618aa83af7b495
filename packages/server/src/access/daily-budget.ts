import { AgentError, type Json, type PolicyOverrides, type Store, systemClock, type Usage } from "capstan";
import type { Caller } from "./caller.ts";

/** What users have spent today, shared by all processes on the store. */
export interface Spending {
  /** The policy with a budget that today's rest allows. Throws `rate_limited` when nothing is left. */
  within(caller: Caller, policy: PolicyOverrides): Promise<PolicyOverrides>;
  /** Counts what a run has used. */
  add(scope: string, usage: Usage): Promise<void>;
}

type Spent = { readonly tokens: number; readonly cost: number };

const kind = "spent";
const dayMs = 86_400_000;
const mostAttempts = 20;

/** Kept in the store, by day (UTC) and user. */
export function spending(store: Store, now: () => number = systemClock.now): Spending {
  const idFor = (scope: string) => `${new Date(now()).toISOString().slice(0, 10)} ${scope}`;
  /** One after the other, so that the runs of this process do not get in each other's way. */
  let last: Promise<void> = Promise.resolve();

  async function write(id: string, { tokens, cost }: Spent, attempt = 1): Promise<void> {
    const record = await store.getRecord(kind, id);
    const before = spentIn(record?.body);
    const body: Json = { tokens: before.tokens + tokens, cost: before.cost + cost };
    try {
      await store.putRecord({ kind, id, body, replaces: true }, record?.version ?? 0);
    } catch (thrown) {
      if (!isConflict(thrown) || attempt >= mostAttempts) throw thrown;
      await write(id, { tokens, cost }, attempt + 1); // another process has counted in between
    }
  }

  return {
    async within({ scope, limits }, policy) {
      const { tokensPerDay, costPerDay } = limits;
      if (tokensPerDay === Number.POSITIVE_INFINITY && costPerDay === Number.POSITIVE_INFINITY) return policy;
      const { tokens, cost } = spentIn((await store.getRecord(kind, idFor(scope)))?.body);
      const rest = { tokens: tokensPerDay - tokens, cost: costPerDay - cost };
      if (rest.tokens <= 0 || rest.cost <= 0) throw usedUp(rest.tokens <= 0, limits, dayMs - (now() % dayMs));
      const { budget } = policy;
      return {
        ...policy,
        budget: {
          ...budget,
          ...lowered("tokens", budget?.tokens, rest.tokens),
          ...lowered("cost", budget?.cost, rest.cost),
        },
      };
    },
    add(scope, { inputTokens, outputTokens, cost = 0 }) {
      const id = idFor(scope);
      const written = last.then(() => write(id, { tokens: inputTokens + outputTokens, cost }));
      last = written.catch(() => undefined);
      return written;
    },
  };
}

function spentIn(body: Json | undefined): Spent {
  const { tokens, cost } = (body ?? {}) as Partial<Spent>;
  return { tokens: Number(tokens) || 0, cost: Number(cost) || 0 };
}

function lowered(what: "tokens" | "cost", asked: number | "unlimited" | undefined, rest: number): object {
  if (rest === Number.POSITIVE_INFINITY) return {};
  return { [what]: typeof asked === "number" ? Math.min(asked, rest) : rest };
}

function usedUp(byTokens: boolean, limits: Caller["limits"], retryAfterMs: number): AgentError {
  const most = byTokens ? `${limits.tokensPerDay} tokens` : `$${limits.costPerDay}`;
  const message = `You have used up what you may use in a day (${most}): go on after midnight UTC.`;
  return new AgentError("rate_limited", message, { retryAfterMs });
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof AgentError && thrown.code === "position_conflict";
}

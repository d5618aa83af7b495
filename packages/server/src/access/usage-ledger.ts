import { AgentError, type Json, type ScopeSize, type Store, systemClock, type Usage } from "capstan";
import { type QuotaWindow, quotaWindows } from "./quotas.ts";
import type { Spending, UsageRecord, WindowUsage } from "./usage-record.ts";

/** The usage of each user, shared by all processes on the store. */
export interface UsageLedger {
  read(user: string): Promise<UsageRecord>;
  /**
   * Stores what `change` returns, in the order of the calls. Changes of one moment share a write. `change` may be called
   * again, after another process has changed the record; if it rejects, nothing is stored.
   */
  update<Value>(user: string, change: UsageChange<Value>): Promise<Value>;
  /** Resolves when all changes are stored. */
  waitUntilStored(): Promise<void>;
}

export type UsageChange<Value> = (
  usage: UsageRecord,
  context: ChangeContext,
) => readonly [UsageRecord, Value] | Promise<readonly [UsageRecord, Value]>;

export type ChangeContext = {
  readonly now: number;
  /** Measures the sessions of the user, once for all changes that share a write. */
  measureStorage(): Promise<ScopeSize>;
  hasSession(sessionId: string): Promise<boolean>;
};

type PendingChange = {
  readonly change: UsageChange<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

const recordKind = "usage";
const maxAttempts = 50;
const maxBatch = 500;

export function createUsageLedger(store: Store, now: () => number = systemClock.now): UsageLedger {
  const queues = new Map<string, PendingChange[]>();
  const flushes = new Set<Promise<void>>();

  async function load(user: string) {
    const record = await store.getRecord(recordKind, toId(user));
    const usage = startWindows(record?.body as Partial<UsageRecord> | undefined, now());
    return { usage, version: record?.version ?? 0 };
  }

  async function commit(user: string, batch: readonly PendingChange[], attempt = 1): Promise<() => void> {
    const before = await load(user);
    const context = createLedgerContext(store, user, now());
    let { usage } = before;
    const outcomes: (() => void)[] = [];
    for (const { change, resolve, reject } of batch) {
      try {
        const [next, value] = await change(usage, context);
        usage = next;
        outcomes.push(() => resolve(value));
      } catch (error) {
        outcomes.push(() => reject(error));
      }
    }
    const body = usage as unknown as Json;
    try {
      if (usage !== before.usage)
        await store.putRecord({ kind: recordKind, id: toId(user), body, replaces: true }, before.version);
    } catch (thrown) {
      if (!isConflict(thrown) || attempt >= maxAttempts) throw thrown;
      return commit(user, batch, attempt + 1); // another process has updated the record
    }
    return () => {
      for (const settle of outcomes) settle();
    };
  }

  async function flush(user: string, queue: PendingChange[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, maxBatch);
      try {
        (await commit(user, batch))();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queues.delete(user);
  }

  return {
    read: async (user) => (await load(user)).usage,
    update(user, change) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const pending = { change, resolve, reject };
      const queue = queues.get(user);
      if (queue) queue.push(pending);
      else {
        const started = [pending];
        queues.set(user, started);
        const flushing = Promise.resolve().then(() => flush(user, started));
        flushes.add(flushing);
        void flushing.finally(() => flushes.delete(flushing));
      }
      return promise as Promise<never>;
    },
    async waitUntilStored() {
      while (flushes.size > 0) await Promise.all(flushes);
    },
  };
}

const localId = "local";
const userPrefix = "user:";

function toId(user: string): string {
  return user === "" ? localId : userPrefix + user;
}

/** Lists the users who have used anything. */
export async function listUsageUsers(store: Store): Promise<readonly string[]> {
  const ids = (await store.listRecords(recordKind)).map(({ id }) => id);
  return ids.map((id) => (id === localId ? "" : id.slice(userPrefix.length)));
}

export const windowMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

export function computeWindowStart(window: QuotaWindow, now: number): number {
  const date = new Date(now);
  if (window === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return now - (now % windowMs[window]);
}

/** Returns the usage with windows that have ended set to zero. A window of a process whose clock is ahead stays. */
export function startWindows(stored: Partial<UsageRecord> | undefined, now: number): UsageRecord {
  const windows = quotaWindows.map((window): [QuotaWindow, WindowUsage] => {
    const start = computeWindowStart(window, now);
    const known = stored?.windows?.[window];
    return [window, known && known.start >= start ? known : { start, runs: 0, tokens: 0, cost: 0 }];
  });
  return {
    windows: Object.fromEntries(windows) as UsageRecord["windows"],
    reservations: stored?.reservations ?? {},
  };
}

/** Adds to all windows; with `since`, only to the ones that had started then. */
export function addToWindows(
  usage: UsageRecord,
  { runs = 0, tokens = 0, cost = 0, since = 0 }: Partial<Spending> & { runs?: number; since?: number },
): UsageRecord {
  const windows = Object.entries(usage.windows).map(([window, used]) => [
    window,
    since < used.start && since > 0
      ? used
      : {
          ...used,
          runs: Math.max(0, used.runs + runs),
          tokens: used.tokens + tokens,
          cost: used.cost + cost,
        },
  ]);
  return { ...usage, windows: Object.fromEntries(windows) };
}

export function withoutReservation(usage: UsageRecord, id: string): UsageRecord {
  const { [id]: _, ...reservations } = usage.reservations;
  return { ...usage, reservations };
}

/** Counts the part of a run's total that was not counted before, and ends its reservation. */
export function countEnd(usage: UsageRecord, runId: string, total: Spending): UsageRecord {
  const reservation = usage.reservations[runId];
  const { tokens, cost } = reservation?.counted ?? { tokens: 0, cost: 0 };
  const rest = {
    tokens: Math.max(0, total.tokens - tokens),
    cost: Math.max(0, total.cost - cost),
    runs: reservation ? 0 : 1,
  };
  return withoutReservation(addToWindows(usage, rest), runId);
}

export function toSpending({
  usage,
  cost = 0,
}: {
  readonly usage: Usage;
  readonly cost?: number | undefined;
}): Spending {
  return { tokens: usage.inputTokens + usage.outputTokens, cost };
}

function createLedgerContext(store: Store, user: string, now: number): ChangeContext {
  let size: Promise<ScopeSize> | undefined;
  const found = new Map<string, Promise<boolean>>();
  return {
    now,
    measureStorage() {
      size ??= store.measureScope(user);
      return size;
    },
    hasSession(sessionId) {
      const known = found.get(sessionId) ?? store.getSession(sessionId).then((info) => info !== undefined);
      found.set(sessionId, known);
      return known;
    },
  };
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof AgentError && thrown.code === "position_conflict";
}

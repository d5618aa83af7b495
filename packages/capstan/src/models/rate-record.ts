import type { Json } from "../base/json.ts";

// One record per account counts the requests and tokens of all processes. Every function here is pure.

/** Any span of this length counts, wherever it starts. */
export const rateWindows = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type RateWindow = keyof typeof rateWindows;

/** The most that all processes together may use. A missing field limits nothing. */
export type RateLimits = {
  readonly requests?: { readonly [Window in RateWindow]?: number };
  /** Input and output tokens. */
  readonly tokens?: { readonly [Window in RateWindow]?: number };
};

export type RateResource = keyof RateLimits;
export const rateResources: readonly RateResource[] = ["requests", "tokens"];

export type RateAmounts = { readonly [Resource in RateResource]: number };

/** What was used at a time. */
export type RateUse = RateAmounts & { readonly at: number };

/** What a process may use until a time without asking again. If the process is gone, it counts as used then. */
export type RateLease = RateAmounts & { readonly until: number };

/** Used amounts by the slot of the window. Slots limit the size of the record. */
type SlotUse = { readonly [slot: string]: RateAmounts };

export type RateRecord = {
  readonly used: { readonly [Window in RateWindow]?: SlotUse };
  /** By process. */
  readonly leases: { readonly [owner: string]: RateLease };
};

const slotsPerWindow = 60;
const nothing: RateAmounts = { requests: 0, tokens: 0 };

/** Reads a stored record without what no longer counts. Another process's clock may be ahead, but not by a window. */
export function readRateRecord(body: Json | undefined, now: number): RateRecord {
  const { used = {}, leases = {} } = (body ?? {}) as Partial<RateRecord>;
  const windows = listWindows(used).map((window): [RateWindow, SlotUse] => [
    window,
    keepEntries(used[window] ?? {}, (_, slot) => isCounted(computeSlotEnd(window, slot), window, now)),
  ]);
  const longest = windows.at(-1)?.[0] ?? "day";
  return {
    used: Object.fromEntries(windows),
    leases: keepEntries(leases, ({ until }) => isCounted(until, longest, now)),
  };
}

/** Adds what was used to the windows that have a limit. A negative amount corrects an earlier one. */
export function addRateUses(record: RateRecord, limits: RateLimits, uses: readonly RateUse[]): RateRecord {
  if (uses.length === 0) return record;
  const windows = listLimited(limits).map((window): [RateWindow, SlotUse] => {
    const slots: Record<string, RateAmounts> = { ...record.used[window] };
    for (const use of uses) {
      const slot = Math.floor(use.at / computeSlotMs(window));
      slots[slot] = addAmounts(slots[slot] ?? nothing, use);
    }
    return [window, slots];
  });
  return { ...record, used: { ...record.used, ...Object.fromEntries(windows) } };
}

/** Replaces the lease of a process; without `lease`, removes it. */
export function withRateLease(record: RateRecord, owner: string, lease?: RateLease): RateRecord {
  const { [owner]: _, ...leases } = record.leases;
  return { ...record, leases: lease ? { ...leases, [owner]: lease } : leases };
}

/** The limit that a request would exceed, and when it has enough left. */
export type RateRefusal = {
  readonly resource: RateResource;
  readonly window: RateWindow;
  readonly limit: number;
  readonly retryAt: number;
};

/** A process gets at most this part of a limit at once, so that the others can work too. */
const slicesPerLimit = 20;

/** Returns a slice of what is left that covers `needed`, or the reason for refusing it. */
export function grantRate(
  record: RateRecord,
  limits: RateLimits,
  { needed, now }: { readonly needed: RateAmounts; readonly now: number },
): RateAmounts | RateRefusal {
  const granted = { requests: Infinity, tokens: Infinity };
  let refusal: RateRefusal | undefined;
  for (const resource of rateResources) {
    for (const [window, limit] of listLimits(limits, resource)) {
      const uses = listUses(record, { window, resource, now });
      const left = limit - uses.reduce((sum, { amount }) => sum + amount, 0);
      if (left < needed[resource]) {
        const retryAt = findRetryTime(uses, { window, now, missing: needed[resource] - left });
        if (!refusal || retryAt > refusal.retryAt) refusal = { resource, window, limit, retryAt };
      }
      const slice = Math.max(needed[resource], Math.ceil(limit / slicesPerLimit));
      granted[resource] = Math.min(granted[resource], left, slice);
    }
  }
  return refusal ?? granted;
}

/** Lowers an amount to the smallest limit of its resource: a larger one could never be granted. */
export function clampToLimits(limits: RateLimits, resource: RateResource, amount: number): number {
  return Math.min(amount, ...listLimits(limits, resource).map(([, limit]) => limit));
}

type CountedUse = { readonly amount: number; readonly until: number; readonly isLease: boolean };

function listUses(
  { used, leases }: RateRecord,
  {
    window,
    resource,
    now,
  }: { readonly window: RateWindow; readonly resource: RateResource; readonly now: number },
): readonly CountedUse[] {
  const uses = Object.entries(used[window] ?? {}).map(([slot, amounts]) => ({
    ...{ amount: amounts[resource], until: computeSlotEnd(window, slot), isLease: false },
  }));
  const leased = Object.values(leases).map((lease) => ({
    ...{ amount: lease[resource], until: lease.until, isLease: true },
  }));
  return [...uses, ...leased.filter(({ until }) => isCounted(until, window, now))];
}

/** A process may give its lease back until it ends; then it counts as used. */
function findRetryTime(
  uses: readonly CountedUse[],
  { window, now, missing }: { readonly window: RateWindow; readonly now: number; readonly missing: number },
): number {
  const ends = uses
    .map(({ amount, until, isLease }) => ({
      amount,
      at: isLease && until > now ? until : until + rateWindows[window],
    }))
    .sort((left, right) => left.at - right.at);
  let freed = 0;
  for (const { amount, at } of ends) {
    freed += amount;
    if (freed >= missing) return Math.max(at, now + 1);
  }
  return now + rateWindows[window];
}

function listWindows(used: RateRecord["used"]): readonly RateWindow[] {
  return (Object.keys(rateWindows) as RateWindow[]).filter((window) => used[window] !== undefined);
}

function listLimited({ requests = {}, tokens = {} }: RateLimits): readonly RateWindow[] {
  return (Object.keys(rateWindows) as RateWindow[]).filter(
    (window) => requests[window] !== undefined || tokens[window] !== undefined,
  );
}

function listLimits(limits: RateLimits, resource: RateResource): readonly (readonly [RateWindow, number])[] {
  const entries = Object.entries(limits[resource] ?? {}) as [RateWindow, number | undefined][];
  return entries.flatMap(([window, limit]) => (limit === undefined ? [] : [[window, limit] as const]));
}

function computeSlotMs(window: RateWindow): number {
  return rateWindows[window] / slotsPerWindow;
}

function computeSlotEnd(window: RateWindow, slot: string): number {
  return (Number(slot) + 1) * computeSlotMs(window);
}

function isCounted(until: number, window: RateWindow, now: number): boolean {
  return until > now - rateWindows[window] && until <= now + rateWindows[window];
}

function addAmounts(left: RateAmounts, right: RateAmounts): RateAmounts {
  return { requests: left.requests + right.requests, tokens: left.tokens + right.tokens };
}

function keepEntries<Value>(
  entries: { readonly [key: string]: Value },
  isKept: (value: Value, key: string) => boolean,
): { readonly [key: string]: Value } {
  return Object.fromEntries(Object.entries(entries).filter(([key, value]) => isKept(value, key)));
}

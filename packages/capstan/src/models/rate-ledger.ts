import type { Json } from "../base/json.ts";
import { type Records, updateRecord } from "../kernel/records.ts";
import {
  addRateUses,
  grantRate,
  type RateLease,
  type RateLimits,
  type RateRefusal,
  type RateUse,
  readRateRecord,
  withRateLease,
} from "./rate-record.ts";

export type RateLedgerOptions = {
  readonly store: Pick<Records, "getRecord" | "putRecord" | "removeRecord">;
  readonly key: string;
  readonly limits: RateLimits;
  /** Identifies this process. */
  readonly owner: string;
};

export type RateExchange = {
  readonly now: number;
  /** What this process has used since the last exchange. */
  readonly uses: readonly RateUse[];
  /** The tokens of the next request. Without it, the process needs no further lease. */
  readonly neededTokens?: number | undefined;
  readonly leaseMs: number;
};

/** The use of an account by all processes, in one record of the store. */
export interface RateLedger {
  /** Stores what was used, releases the lease of this process, and returns the next one, or the reason for refusing it. */
  exchange(exchange: RateExchange): Promise<RateLease | RateRefusal | undefined>;
}

const recordKind = "rate_limit";

export function createRateLedger({ store, key, limits, owner }: RateLedgerOptions): RateLedger {
  let recordId: Promise<string> | undefined;
  return {
    async exchange({ now, uses, neededTokens, leaseMs }) {
      recordId ??= hashKey(key);
      let outcome: RateLease | RateRefusal | undefined;
      await updateRecord(store, { kind: recordKind, id: await recordId }, (body) => {
        const record = withRateLease(addRateUses(readRateRecord(body, now), limits, uses), owner);
        outcome = undefined;
        if (neededTokens === undefined) return toBody(record, body);
        const granted = grantRate(record, limits, { needed: { requests: 1, tokens: neededTokens }, now });
        outcome = isRefusal(granted) ? granted : { ...granted, until: now + leaseMs };
        return toBody(
          isRefusal(outcome) ? record : withRateLease(record, owner, toStoredLease(outcome)),
          body,
        );
      });
      return outcome;
    },
  };
}

export function isRefusal(outcome: object | undefined): outcome is RateRefusal {
  return outcome !== undefined && "retryAt" in outcome;
}

/** An amount without a limit is not counted. */
function toStoredLease({ requests, tokens, until }: RateLease): RateLease {
  const toStored = (amount: number) => (Number.isFinite(amount) ? amount : 0);
  return { requests: toStored(requests), tokens: toStored(tokens), until };
}

/** Returns the stored body if nothing changed, so that nothing is written. */
function toBody(record: object, stored: Json | undefined): Json {
  return stored !== undefined && JSON.stringify(record) === JSON.stringify(stored)
    ? stored
    : (record as Json);
}

/** Returns a hash from which a key cannot be recovered. */
async function hashKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

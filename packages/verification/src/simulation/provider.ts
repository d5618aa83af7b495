import { AgentError } from "capstan";
import type { Random } from "./random.ts";

/** A time in which the provider of the models answers no request. */
export type PlannedOutage = {
  readonly from: number;
  readonly until: number;
  /** `rejects`: every request is refused for good, as with a revoked key, so runs fail at once. */
  readonly kind: "unreachable" | "overloaded" | "limited" | "cut" | "rejects";
};

export function planOutages(random: Random): readonly PlannedOutage[] {
  if (!random.chance(0.3)) return [];
  return Array.from({ length: random.between(1, 2) }, (_, index) => {
    const from = index * 6000 + random.below(2500);
    const until = from + random.between(200, random.pick([1000, 3000, 3000, 12_000, 40_000]));
    return {
      from,
      until,
      kind: random.pick(["unreachable", "overloaded", "limited", "cut", "rejects", "rejects"]),
    };
  });
}

export function findPlannedOutage(outages: readonly PlannedOutage[], at: number): PlannedOutage | undefined {
  return outages.find(({ from, until }) => from <= at && at < until);
}

/** Fails a request during an outage. A cut answer begins, and never ends. */
export function failRequest({ kind, until }: PlannedOutage, at: number): "cut" {
  switch (kind) {
    case "unreachable":
      throw new AgentError("model_unreachable", "The connection was refused.");
    case "overloaded":
      throw new AgentError("model_overloaded", "The model is overloaded.");
    case "limited":
      throw new AgentError("model_rate_limited", "Too many requests.", {
        retryAfterMs: Math.min(until - at, 2000),
      });
    case "rejects":
      throw new AgentError("model_auth", "The key was revoked.");
    case "cut":
      return "cut";
  }
}

import type { Effort } from "./settings.ts";

export type EffortLevel = Exclude<Effort, number>;

/** The levels as token budgets. */
const budgets = { low: 1024, medium: 8192, high: 24_576, xhigh: 49_152, max: 98_304 };

/** Compares efforts. */
export function measureEffort(effort: Effort): number {
  if (typeof effort === "number") return effort;
  return effort === "none" ? 0 : budgets[effort];
}

/** Returns the budget of an effort, for models without levels. They accept no more than the one of `high`. */
export function toBudget(effort: Exclude<Effort, "none">): number {
  return typeof effort === "number" ? effort : Math.min(budgets[effort], budgets.high);
}

/** Returns the level that is nearest to an effort, for models without token budgets. */
export function toLevel(effort: Effort): EffortLevel {
  if (typeof effort !== "number") return effort;
  if (effort < (budgets.low + budgets.medium) / 2) return "low";
  return effort < (budgets.medium + budgets.high) / 2 ? "medium" : "high";
}

/** Returns the level, or `high` for the levels above it, for models without them. */
export function toCommonLevel(effort: Effort): Exclude<EffortLevel, "xhigh" | "max"> {
  const level = toLevel(effort);
  return isAboveHigh(level) ? "high" : level;
}

export function isAboveHigh(effort: unknown): effort is "xhigh" | "max" {
  return effort === "xhigh" || effort === "max";
}

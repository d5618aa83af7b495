import type { Effort } from "./settings.ts";

export type EffortLevel = Exclude<Effort, number>;

/** The levels as token budgets. */
const budgets = { low: 1024, medium: 8192, high: 24_576 };

/** Returns the budget of an effort, for models without levels. */
export function toBudget(effort: Exclude<Effort, "none">): number {
  return typeof effort === "number" ? effort : budgets[effort];
}

/** Returns the level that is nearest to an effort, for models without token budgets. */
export function toLevel(effort: Effort): EffortLevel {
  if (typeof effort !== "number") return effort;
  if (effort < (budgets.low + budgets.medium) / 2) return "low";
  return effort < (budgets.medium + budgets.high) / 2 ? "medium" : "high";
}

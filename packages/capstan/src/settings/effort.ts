import type { Effort } from "./settings.ts";

export type EffortLevel = Exclude<Effort, number>;

/** From this many tokens on, a budget is nearer to the level than to the one below (1,024, 8,192 and 24,576 tokens). */
const budgets: readonly (readonly [tokens: number, level: EffortLevel])[] = [
  [16_384, "high"],
  [4_608, "medium"],
];

/** Returns the level that is nearest to an effort, for models without token budgets. */
export function toLevel(effort: Effort): EffortLevel {
  if (typeof effort !== "number") return effort;
  return budgets.find(([tokens]) => effort >= tokens)?.[1] ?? "low";
}

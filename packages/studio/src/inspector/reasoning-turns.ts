import type { Fact } from "capstan";
import { type ReasoningStep, reasoningSteps } from "capstan/client";

/** A turn with what was thought and done in it. */
export type ReasoningTurn = {
  readonly turn: number;
  readonly agent: string;
  /** Which of how many. */
  readonly title: string;
  /** In the words of a model. */
  readonly summary: string | undefined;
  readonly steps: readonly ReasoningStep[];
};

/** The turns of a run, without those of the agents that it has called. */
export function reasoningTurns(facts: readonly Fact[], runId: string): readonly ReasoningTurn[] {
  const own = facts.filter((fact) => fact.runId === runId && fact.parentRunId === undefined);
  const turns = Map.groupBy(reasoningSteps(own), ({ iteration }) => iteration);
  return [...turns].map(([turn, all]) => {
    const [first] = all;
    const begun = all.find(({ type, aiGenerated }) => type === "iteration" && !aiGenerated);
    return {
      turn,
      agent: first?.agent ?? "",
      title: begun?.summary ?? `Turn ${turn}`,
      summary: all.findLast(({ aiGenerated }) => aiGenerated)?.summary,
      steps: all.filter(({ type }) => type !== "iteration"),
    };
  });
}

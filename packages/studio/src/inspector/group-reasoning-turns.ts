import type { Fact } from "capstan";
import { type ReasoningStep, reasoningSteps } from "capstan/client";

/** A turn with its reasoning steps. */
export type ReasoningTurn = {
  readonly turn: number;
  readonly agent: string;
  /** For example "Turn 2 of 10". */
  readonly title: string;
  /** Written by a model. */
  readonly summary: string | undefined;
  readonly steps: readonly ReasoningStep[];
};

/** Groups the steps of a run by turn, without nested runs. */
export function groupReasoningTurns(facts: readonly Fact[], runId: string): readonly ReasoningTurn[] {
  const own = facts.filter((fact) => fact.runId === runId && fact.parentRunId === undefined);
  const turns = Map.groupBy(reasoningSteps(own), ({ iteration }) => iteration);
  return [...turns].map(([turn, steps]) => {
    const [firstStep] = steps;
    const iteration = steps.find(({ type, aiGenerated }) => type === "iteration" && !aiGenerated);
    return {
      turn,
      agent: firstStep?.agent ?? "",
      title: iteration?.summary ?? `Turn ${turn}`,
      summary: steps.findLast(({ aiGenerated }) => aiGenerated)?.summary,
      steps: steps.filter(({ type }) => type !== "iteration"),
    };
  });
}

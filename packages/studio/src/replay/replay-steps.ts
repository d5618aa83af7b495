import type { Fact } from "capstan";

/** Returns the fact indexes at which turns start, without nested runs. */
export function findTurnStarts(facts: readonly Fact[]): readonly number[] {
  return facts.flatMap((fact, index) => {
    const isStart = fact.type === "run_start" || fact.type === "turn_start";
    return isStart && fact.parentRunId === undefined ? [index] : [];
  });
}

/** Returns the number of facts to show after a step to the next or previous turn. */
export function stepByTurn(starts: readonly number[], count: number, step: 1 | -1): number | undefined {
  const counts = starts.map((index) => index + 1);
  return step === 1
    ? counts.find((candidate) => candidate > count)
    : counts.findLast((candidate) => candidate < count);
}

/**
 * Finds the last fact to include in a fork: the end of the last completed turn, because a fork must not start with half a
 * turn.
 */
export function findForkPoint(facts: readonly Fact[], count: number): Fact | undefined {
  return facts
    .slice(0, count)
    .findLast(
      ({ type, parentRunId }) => parentRunId === undefined && (type === "turn_end" || type === "done"),
    );
}

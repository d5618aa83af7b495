import type { Fact } from "capstan";

/** Where turns begin: the indexes of the facts, without those inside of calls. */
export function turnStarts(facts: readonly Fact[]): readonly number[] {
  return facts.flatMap((fact, at) => {
    const isStart = fact.type === "run_start" || fact.type === "turn_start";
    return isStart && fact.parentRunId === undefined ? [at] : [];
  });
}

/** So many facts are shown when a step by a turn was made from here. */
export function countAfterTurnStep(
  starts: readonly number[],
  count: number,
  step: 1 | -1,
): number | undefined {
  const counts = starts.map((at) => at + 1);
  return step === 1 ? counts.find((one) => one > count) : counts.findLast((one) => one < count);
}

/**
 * The last fact that a fork from here takes along: all of the last turn that is over. In the middle of a turn, a fork would
 * begin with half of it.
 */
export function forkPlace(facts: readonly Fact[], count: number): Fact | undefined {
  return facts
    .slice(0, count)
    .findLast(
      ({ type, parentRunId }) => parentRunId === undefined && (type === "turn_end" || type === "done"),
    );
}

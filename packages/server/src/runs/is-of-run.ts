import type { Fact } from "capstan";

/** Whether a fact is of the run or of one nested in it, however deep. */
export function isOfRun({ runId, parentRunId }: Fact, outer: string): boolean {
  return runId === outer || (parentRunId !== undefined && runId.startsWith(`${outer}~`));
}

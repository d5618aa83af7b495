import { AgentError } from "../errors.ts";
import type { FactBody, UnplacedFact } from "../event.ts";
import type { RunInfo } from "../store.ts";

/** Whether the fact begins a run that is listed. One that is nested in another goes on with that one alone. */
export function startsRun(fact: UnplacedFact): boolean {
  return fact.type === "run_start" && fact.parentRunId === undefined;
}

/** What a fact makes of its run. */
export function stateAfter(fact: FactBody): RunInfo["state"] {
  if (fact.type === "done") return "ended";
  // A run that goes on by itself needs somebody to see that the time has come.
  return fact.type === "waiting" && fact.until === undefined ? "waiting" : "active";
}

/** Nobody hears what is told to a run that is not there or has ended. */
export function assertTellable(runId: string, run: Pick<RunInfo, "state"> | undefined): void {
  if (!run) throw new AgentError("unknown_run", `The store has no run "${runId}".`);
  if (run.state === "ended")
    throw new AgentError("run_ended", `The run "${runId}" has ended: start a new one in its session.`);
}

import type { Fact } from "capstan";
import type { AuditedSession } from "./fact-audit.ts";
import type { PlannedRun } from "./plan.ts";
import type { PlannedOutage } from "./provider.ts";
import type { World } from "./world.ts";

type Request = {
  readonly run: PlannedRun;
  readonly session: AuditedSession;
  /** The lease under which the request is made. */
  readonly token: number;
  readonly outage: PlannedOutage | undefined;
};

/** Checks how often the model is called, and that an outage ends no run which has patience left. */
export interface RequestAudit {
  onRequest(request: Request): void;
  /** Called for each request that fails because of an outage. */
  onFailure(run: PlannedRun): void;
  onFact(fact: Fact): void;
}

/** Interval at which a process looks whether the provider is back, at first. */
const minProbeMs = 1000;

export function createRequestAudit(world: World, runs: readonly PlannedRun[]): RequestAudit {
  const { scheduler } = world;
  /** Requests by lease and position: attempts of one call. */
  const attempts = new Map<string, number>();
  /** Requests by run and outage. */
  const requests = new Map<string, number>();
  /** Fresh starts of a run's attempts, by run. */
  const restarts = new Map<string, number>();
  const failingSince = new Map<string, number>();
  const increment = (counts: Map<string, number>, key: string): number => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  };

  function checkAttempts({ run, session, token }: Request): void {
    const count = increment(attempts, `${token}/${session.facts.length}`);
    const isSuspended = (session.state.run?.currentTurn?.suspensions ?? 0) > 0;
    if (count > (isSuspended ? 1 : run.attempts))
      world.reportViolation("nothing is requested more often than the policy says", `${count}: ${run.runId}`);
  }

  function checkRate({ run: { runId, attempts: perStart } }: Request, { from }: PlannedOutage): void {
    const count = increment(requests, `${runId}/${from}`);
    const starts = 1 + (restarts.get(runId) ?? 0);
    const probes = Math.ceil((scheduler.now() - from) / minProbeMs) + 3;
    if (count > perStart * starts + probes * world.totals.processes)
      world.reportViolation("nothing is requested more often than the policy says", `${count}: ${runId}`);
  }

  return {
    onRequest(request) {
      checkAttempts(request);
      if (request.outage) checkRate(request, request.outage);
    },
    onFailure({ runId }) {
      if (!failingSince.has(runId)) failingSince.set(runId, scheduler.now());
    },
    onFact(fact) {
      const { type, runId } = fact;
      if (type === "recovered" || type === "retried") increment(restarts, runId);
      if (type === "message" || type === "message_partial" || type === "retried") failingSince.delete(runId);
      const isOutage = type === "done" && fact.canRetry && outageCodes.includes(fact.error?.code ?? "");
      const run = runs.find((planned) => planned.runId === runId);
      if (!isOutage || !run) return;
      const failingMs = scheduler.now() - (failingSince.get(runId) ?? scheduler.now());
      // While a run is suspended, only the wall clocks of the processes tell how much time has passed.
      if (failingMs + world.clockErrorMs() < run.patienceMs)
        world.reportViolation(
          "no outage ends a run that has patience left",
          `${runId} after ${failingMs} of ${run.patienceMs} ms: ${fact.error?.code}`,
        );
    },
  };
}

const outageCodes: readonly string[] = [
  "model_unreachable",
  "model_overloaded",
  "model_rate_limited",
  "stream_truncated",
  "model_failed",
];

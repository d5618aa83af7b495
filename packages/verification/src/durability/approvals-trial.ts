import { setTimeout as pause } from "node:timers/promises";
import { local } from "capstan/engines/local";
import { startPostgres } from "../postgres/start-postgres.ts";
import type { TrialCheck } from "./check-trial.ts";
import { createCrashAgent, type PlannedCalls } from "./crash-agent.ts";
import { type CrashHarness, openCrashHarness } from "./crash-harness.ts";
import type { WorkerOptions } from "./run-engine-worker.ts";

export type ApprovalsTrialOptions = {
  readonly store: "sqlite" | "postgres";
  readonly count: number;
  readonly workers: number;
};

export type ApprovalsTrialReport = TrialCheck & {
  /** Calls that needed approval and took effect. */
  readonly approved: number;
  readonly seconds: number;
};

const plan: PlannedCalls = [["look"], ["sign"]];
// Long enough that workers keep their runs on a busy machine; they poll twice as often.
const leaseMs = 3_000;
const pollMs = 100;
const timeoutMs = 240_000;

/**
 * Enqueues runs that each wait for an approval, kills every worker and the Postgres server, starts workers with new code
 * (other instructions, one more tool), and approves all.
 */
export async function runApprovalsTrial(options: ApprovalsTrialOptions): Promise<ApprovalsTrialReport> {
  const { count, workers } = options;
  const startedAt = performance.now();
  const server = options.store === "postgres" ? await startPostgres({ durable: true }) : undefined;
  const harness = openCrashHarness(
    leaseMs,
    server && { type: "postgres", url: server.url, schema: "approvals" },
  );
  const trace = { write: () => undefined, close: () => undefined };
  const agent = createCrashAgent({ trace, reach: () => undefined });
  const client = local({ store: harness.store, agents: agent, leaseMs, work: false });
  const startWorkers = (code: Partial<WorkerOptions>) =>
    Promise.all(Array.from({ length: workers }, () => harness.startWorker(code)));
  try {
    const runIds = Array.from({ length: count }, (_, number) => `run_${number}`);
    const old = await startWorkers({ omittedTool: "charge" });
    for (const runId of runIds) await client.enqueue(agent, JSON.stringify(plan), { runId, session: runId });
    await waitForState(harness, runIds, "waiting");
    for (const worker of old) worker.signal("SIGKILL");
    await Promise.all(old.map((worker) => worker.ended));
    await server?.crash();
    await server?.restart();
    await startWorkers({ instructions: "This is a new version." });
    for (const runId of runIds) {
      const { pending } = await client.getResult(runId);
      for (const { callId } of pending) await client.send(runId, { key: "yes", type: "approve", callId });
    }
    await waitForState(harness, runIds, "ended");
    const keys = harness
      .getTrace("effect")
      .flatMap((line) => ("key" in line && line.tool === "sign" ? line.key : []));
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { ...(await harness.check()), approved: new Set(keys).size, seconds };
  } finally {
    await client.close();
    await harness.close();
    await server?.stop();
  }
}

async function waitForState(
  { store }: CrashHarness,
  runIds: readonly string[],
  state: string,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const missing = new Set(runIds);
  for (;;) {
    for (const runId of missing) {
      const info = await store.findRun(runId);
      if (info?.state !== state) break;
      missing.delete(runId);
    }
    if (missing.size === 0) return;
    if (performance.now() > deadline)
      throw new Error(`${missing.size} of ${runIds.length} runs are not ${state} after ${timeoutMs} ms.`);
    await pause(pollMs);
  }
}

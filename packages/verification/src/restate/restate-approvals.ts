import { setTimeout as pause } from "node:timers/promises";
import type { RunInfo } from "capstan";
import type { PlannedCalls } from "../durability/crash-agent.ts";
import { openRestateHarness, type RestateHarness, type RestateHarnessOptions } from "./restate-harness.ts";

const plan: PlannedCalls = [["look"], ["sign"]];
const pollMs = 100;
const timeoutMs = 300_000;

export type ApprovalsReport = {
  readonly problems: readonly string[];
  readonly completed: number;
  /** Tool executions in all versions of the code. */
  readonly executions: number;
  /** Executions of calls that had no result yet, and how often a run was taken over. */
  readonly repeated: number;
  readonly recoveries: number;
  readonly seconds: number;
};

/**
 * Enqueues runs that each wait for an approval, kills all workers and the Restate server, starts a new version of the
 * workers as a new deployment, and approves all.
 */
export async function runApprovalTrial(
  options: RestateHarnessOptions & { readonly count: number; readonly workers: number },
): Promise<ApprovalsReport> {
  const times = { leaseMs: 5_000, recoverEveryMs: 5_000 };
  const harness = await openRestateHarness({ ...options, times });
  const startedAt = performance.now();
  try {
    const runIds = Array.from({ length: options.count }, (_, number) => `run_${number}`);
    const old = Array.from({ length: options.workers }, () => harness.addWorker());
    await harness.register();
    await forEachRun(runIds, async (runId) => {
      await harness.client.enqueue(harness.agent, JSON.stringify(plan), { runId, session: runId });
    });
    await waitForState(harness, runIds, "waiting");
    for (const worker of old) worker.signal("SIGKILL");
    await Promise.all(old.map((worker) => worker.ended));
    await Promise.all(harness.server.nodes.map((node) => node.kill()));
    await Promise.all(harness.server.nodes.map((node) => node.restart()));

    await harness.startDeployment();
    const added = Array.from({ length: options.workers }, () =>
      harness.addWorker({ instructions: "A new version." }),
    );
    await Promise.all(added.map((worker) => worker.ready));
    await harness.register();
    await forEachRun(runIds, async (runId) => {
      const { pending } = await harness.client.getResult(runId);
      for (const { callId } of pending)
        await harness.client.send(runId, { key: "yes", type: "approve", callId });
    });
    await waitForState(harness, runIds, "ended");
    const { problems, runs: completed, executions, repeated, recoveries } = await harness.check();
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { problems, completed, executions, repeated, recoveries, seconds };
  } finally {
    await harness.close();
  }
}

async function waitForState(
  { store }: RestateHarness,
  runIds: readonly string[],
  expected: RunInfo["state"],
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (const runId of runIds)
    for (;;) {
      const state = (await store.findRun(runId))?.state;
      if (state === expected) break;
      if (performance.now() > deadline) throw new Error(`${runId} is ${state}, not ${expected}.`);
      await pause(pollMs);
    }
}

/** Calls `act` for all runs, some at a time. */
async function forEachRun(runIds: readonly string[], act: (runId: string) => Promise<void>): Promise<void> {
  const remaining = runIds.values();
  const actors = Array.from({ length: 10 }, async () => {
    for (const runId of remaining) await act(runId);
  });
  await Promise.all(actors);
}

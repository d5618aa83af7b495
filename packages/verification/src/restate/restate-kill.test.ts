import { expect, it } from "vitest";
import { runRestateTrial } from "./restate-trial.ts";
import { findRestateServer } from "./start-restate.ts";

it.skipIf(!findRestateServer())(
  "kills of workers and of the Restate server, under handoffs, sub-agents and approvals: no run is lost, no effect is duplicated (F73, F74)",
  async () => {
    const report = await runRestateTrial({ workers: 2, workerKills: 3, serverKills: 1 });
    expect(report.problems).toEqual([]);
    expect(report.enqueued).toBeGreaterThan(0);
  },
);

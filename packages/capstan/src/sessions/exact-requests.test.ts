import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, startPostgres } from "@capstan/verification/postgres";
import fc from "fast-check";
import { expect, it } from "vitest";
import { postgres } from "../stores/postgres/postgres.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { checkRequests, type RequestPlan, requestPlans } from "../testing/request-plan.ts";

async function checkPlan(plan: RequestPlan): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "requests-"));
  try {
    await checkRequests(plan, () => sqlite(join(folder, "store.db")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it("stored requests equal the bytes that the provider got, on every wire, whatever happens to the runs", async () => {
  await fc.assert(fc.asyncProperty(requestPlans, checkPlan), { numRuns: 12 });
}, 120_000);

it.for([
  ["openai-chat", "openai-responses", "anthropic"],
  ["anthropic", "gemini", "openai-chat"],
  ["gemini", "anthropic", "openai-responses"],
  ["openai-responses", "openai-chat", "gemini"],
] as const)("stored requests equal the bytes sent after a compaction, a handoff, a retry and a crash: %s", async (wires) => {
  const runs = [
    ["look", "fail", "look", "two", "delegate", "look", "text"],
    ["handoff", "look", "look", "text"],
  ] as const;
  const plan = {
    wires,
    runs,
    contextBudget: 900,
    crashAt: 4,
    forkAt: 60,
    changesInstructions: true,
  } as const;
  await checkPlan(plan);
  expect.hasAssertions();
});

it.skipIf(!findPostgresFolder())(
  "stored requests equal the bytes that the provider got in PostgreSQL",
  async () => {
    const server = await startPostgres();
    try {
      const pool = server.pool();
      let plans = 0;
      const check = fc.asyncProperty(requestPlans, async (plan) => {
        plans += 1;
        await checkRequests(plan, () => postgres(pool, { schema: `requests_${plans}` }));
      });
      await fc.assert(check, { numRuns: process.env.CAPSTAN_LONG === "1" ? 60 : 3 });
      expect(plans).toBeGreaterThan(0);
    } finally {
      await server.stop();
    }
  },
  600_000,
);

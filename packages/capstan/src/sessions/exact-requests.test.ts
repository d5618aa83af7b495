import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, startPostgres } from "@capstan/verification/postgres";
import fc from "fast-check";
import { expect, it } from "vitest";
import { rebuildRequests } from "../features/exact-requests/rebuild-request.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Part } from "../kernel/history.ts";
import { wireNames } from "../models/wire-request.ts";
import { run } from "../runtime/run.ts";
import { postgres } from "../stores/postgres/postgres.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { startRecordingProvider } from "../testing/recording-provider.ts";
import { checkRequests, createImage, type RequestPlan, requestPlans } from "../testing/request-plan.ts";
import { session } from "./session.ts";

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
    images: [3_000],
  } as const;
  await checkPlan(plan);
  expect.hasAssertions();
});

it.for(
  wireNames,
)("attached images are stored once, in their facts, to which requests refer: %s", async (wire) => {
  const provider = await startRecordingProvider(() => ({ text: "I see." }));
  const store = sqlite(":memory:");
  try {
    const agent = defineAgent({ name: "viewer", model: provider.createModel(wire) });
    const images = [createImage(20_000, 1), createImage(20_000, 2), createImage(20_000, 3)];
    const attach = (...parts: readonly Part[]) => [
      { type: "user", content: [{ type: "text", text: "What is it?" }, ...parts] } as const,
    ];
    const [first, second, third] = images as [Part, Part, Part];
    await run(agent, attach(first, second, first), { store, session: "s" });
    await run(agent, attach(third), { store, session: "s" });
    const rows = (await store.readRequests?.("s")) ?? [];
    expect(JSON.stringify(rows).length).toBeLessThan(6_000);
    const sizes = images.map((part) => (part.type === "text" ? 0 : (part.data?.length ?? 0)));
    // The first image was attached twice.
    expect(await store.measureSession("s")).toBeLessThan(sizes.reduce((sum, size) => sum + size, 40_000));
    await session(store, "s").fork((await session(store, "s").info()).facts, { id: "copy" });
    await store.remove("s");
    for (const [sessionId, bodies] of [
      ["s", []],
      ["copy", provider.received.map(({ body }) => body)],
    ] as const) {
      const kept = (await store.readRequests?.(sessionId)) ?? [];
      const rebuilt = await rebuildRequests({ store, sessionId }, kept);
      expect(rebuilt.map(({ body }) => body)).toEqual(bodies);
    }
    expect(provider.received[1]?.body).toContain(third.type === "text" ? "" : third.data);
  } finally {
    await provider.close();
    await store.close();
  }
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

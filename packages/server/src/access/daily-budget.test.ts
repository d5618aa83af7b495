import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { type Caller, defaultLimits } from "./caller.ts";
import { createDailyBudget } from "./daily-budget.ts";

const noon = Date.UTC(2026, 0, 31, 12);
const hour = 3_600_000;
const createCaller = (limits: Partial<Caller["limits"]>): Caller => ({
  ...{ user: "ada", scope: "ada", isAdmin: false },
  limits: { ...defaultLimits, ...limits },
});
const createUsage = (tokens: number, cost = 0) => ({ inputTokens: tokens, outputTokens: 0, cost });

it("lowers a budget to the rest of the daily budget, and never raises one (A92)", async () => {
  const spent = createDailyBudget(memory(), () => noon);
  const ada = createCaller({ tokensPerDay: 100, costPerDay: 5 });
  await spent.addUsage("ada", createUsage(30, 1));
  await spent.addUsage("bob", createUsage(100, 5));
  expect(await spent.clampPolicy(ada, { maxTurns: 3 })).toEqual({
    maxTurns: 3,
    budget: { tokens: 70, cost: 4 },
  });
  const asked = { budget: { tokens: 10, cost: "unlimited", seconds: 9 } } as const;
  expect(await spent.clampPolicy(ada, asked)).toEqual({ budget: { tokens: 10, cost: 4, seconds: 9 } });
});

it("a used-up budget is refused with the time of its reset, and the next day starts at zero (A92)", async () => {
  let now = noon;
  const spent = createDailyBudget(memory(), () => now);
  const ada = createCaller({ costPerDay: 5 });
  await spent.addUsage("ada", createUsage(1, 6));
  await expect(spent.clampPolicy(ada, {})).rejects.toMatchObject({
    code: "rate_limited",
    message: "Daily limit reached ($5). It resets at midnight UTC.",
    retryAfterMs: 12 * hour,
  });
  now += 12 * hour;
  expect(await spent.clampPolicy(ada, {})).toEqual({ budget: { cost: 5 } });
});

it("who has no limit is not looked up", async () => {
  const store = { ...memory(), record: () => Promise.reject(new Error("looked up")) };
  expect(await createDailyBudget(store).clampPolicy(createCaller({}), { maxTurns: 3 })).toEqual({
    maxTurns: 3,
  });
});

it("counts everything that several processes add concurrently, in one record per day and user (A92)", async () => {
  const store = sqlite(":memory:");
  const processes = Array.from({ length: 4 }, () => createDailyBudget(store, () => noon));
  await Promise.all(
    processes.flatMap((one) => Array.from({ length: 25 }, () => one.addUsage("ada", createUsage(2, 0.5)))),
  );
  const records = await store.listRecords("spent");
  expect(records.map(({ id, body }) => [id, body])).toEqual([["2026-01-31 ada", { tokens: 200, cost: 50 }]]);
  expect(await store.listRecordVersions("spent", "2026-01-31 ada")).toHaveLength(1);
  await store.close();
});

let server: TestServer;
afterEach(() => server?.close(0));

it("a run that would cost $1,000 ends by its budget, and the next one is refused until midnight (A92)", async () => {
  const dear = { inputTokens: 1000, outputTokens: 1000, cost: 3 };
  const again = defineTool({
    name: "again",
    description: "Does something, again",
    input: { n: { type: "number" } },
    effects: "none",
    execute: ({ n }) => `${n}`,
  });
  const model = scriptedModel((_, n) => ({ calls: [{ name: "again", input: { n } }], usage: dear }));
  server = createTestServer({
    agents: [defineAgent({ name: "dear", model, tools: [again], policy: { maxTurns: 1000 } })],
    limits: { costPerDay: 10 },
  });
  const started = await server.send("POST", "/api/runs", { input: "Spend it all" });
  const { runId } = await started.json();
  await (await server.send("GET", `/api/runs/${runId}/events`)).text();
  const { result } = await (await server.send("GET", `/api/runs/${runId}`)).json();
  expect(result).toMatchObject({ status: "limit", error: { code: "budget_cost" } });
  expect(result.cost).toBeLessThan(20);
  const refused = await server.send("POST", "/api/runs", { input: "More" });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

it("a user has a limited number of concurrent streams and runs, and a released slot can be reused (A92)", async () => {
  const hanging = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
  server = createTestServer({
    agents: [defineAgent({ name: "slow", model: hanging })],
    limits: { runs: 2, streams: 3 },
  });
  const start = () => server.send("POST", "/api/runs", { input: "Go" });
  const { runId } = await (await start()).json();
  expect((await start()).status).toBe(201);
  const third = await start();
  expect([third.status, third.headers.get("retry-after")]).toEqual([429, "5"]);
  const listen = () => server.send("GET", `/api/runs/${runId}/events`);
  const streams = [await listen(), await listen(), await listen()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await listen()).status).toBe(429);
  expect((await server.send("HEAD", `/api/runs/${runId}/events`)).status).toBe(429);
  await streams[0]?.body?.cancel();
  expect((await server.send("HEAD", `/api/runs/${runId}/events`)).status).toBe(200);
  expect((await listen()).status).toBe(200); // HEAD released its place
});

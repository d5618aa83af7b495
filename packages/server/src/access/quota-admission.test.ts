import { type Agent, defineAgent, defineTool, type Store } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { fakeClock, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { Problem } from "../http/problem.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import type { Caller } from "./caller.ts";
import { createQuotaAdmission, type QuotaAdmission } from "./quota-admission.ts";
import type { Quotas } from "./quotas.ts";

const again = defineTool({
  name: "again",
  description: "Does something, again",
  input: { n: { type: "number" } },
  effects: "none",
  execute: ({ n }) => `${n}`,
});
const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: {},
  needsApproval: true,
  execute: () => "ok",
});
/** Every call uses 10 input tokens and 5 output tokens. */
const createHelper = () => defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Hello." })) });

let servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close(0)));
  servers = [];
});

function serve(
  quotas: Quotas,
  { agent = createHelper(), store = memory() }: { agent?: Agent; store?: Store } = {},
) {
  const server = createTestServer({ agents: [agent], store, quotas: { default: quotas } });
  servers.push(server);
  return server;
}

type Body = { readonly runId: string; readonly sessionId: string; readonly error: Problem["error"] };
type Answer = { readonly status: number; readonly retryAfter: string | null; readonly body: Body };

async function start(server: TestServer, body: object = {}, headers = {}): Promise<Answer> {
  const response = await server.send("POST", "/api/runs", { input: "Go", ...body }, headers);
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.json(),
  };
}

const startMany = (targets: readonly TestServer[], count: number, headers = {}) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => start(targets[n % targets.length] as TestServer, {}, headers)),
  );

const count = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

const waitUntilEnded = (server: TestServer, runId: string) =>
  server.send("GET", `/api/runs/${runId}/events`).then((response) => response.text());

const loadUsage = async (server: TestServer) => (await server.send("GET", "/api/usage")).json();

describe.each([
  ["memory", () => memory()],
  ["SQLite", () => sqlite(":memory:")],
])("200 parallel requests of one user, in %s,", (_, open) => {
  it("start exactly as many runs as the quota allows, and the others learn when it resets (A92)", async () => {
    const server = serve({ runs: { day: 20, month: 1000 } }, { store: open() });
    const answers = await startMany([server], 200);
    expect([count(answers, 201), count(answers, 429)]).toEqual([20, 180]);
    const { body, retryAfter } = answers.find(({ status }) => status === 429) as Answer;
    expect(body.error).toMatchObject({
      code: "quota_exceeded",
      retryable: true,
      quota: { name: "runs", window: "day", limit: 20, resetsAt: expect.stringMatching(/T00:00:00Z$/) },
      message: expect.stringMatching(
        /^Your quota of 20 runs per day is used up\. It resets at .*T00:00:00Z\.$/,
      ),
    });
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect((await loadUsage(server)).windows.day.runs).toBe(20);
  });

  it("keep exactly as many runs active as the quota allows (A92)", async () => {
    const model = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
    const server = serve(
      { concurrentRuns: 5 },
      { store: open(), agent: defineAgent({ name: "slow", model }) },
    );
    const answers = await startMany([server], 200);
    expect([count(answers, 201), count(answers, 429)]).toEqual([5, 195]);
    const { runId } = (answers.find(({ status }) => status === 201) as Answer).body;
    await server.send("POST", `/api/runs/${runId}/cancel`, {});
    await waitUntilEnded(server, runId);
    expect((await start(server)).status).toBe(201);
  });

  it("share what is left of the tokens, so that their budgets never exceed it together (A92)", async () => {
    const model = scriptedModel((_request, n) => ({ calls: [{ name: "again", input: { n } }] }), {
      record: false,
    });
    const agent = defineAgent({ name: "busy", model, tools: [again], policy: { maxTurns: 1000 } });
    const store = open();
    const server = serve({ tokens: { day: 3000 } }, { store, agent });
    const answers = await startMany([server], 200);
    const admitted = answers.filter(({ status }) => status === 201);
    expect(admitted.length).toBeGreaterThanOrEqual(10);
    const results = await Promise.all(
      admitted.map(async ({ body: { runId } }) => {
        await waitUntilEnded(server, runId);
        return (await (await server.send("GET", `/api/runs/${runId}`)).json()).result;
      }),
    );
    expect(new Set(results.map(({ status, error }) => `${status} ${error.code}`))).toEqual(
      new Set(["limit budget_tokens"]),
    );
    const used = results.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0);
    // The last call of each run may exceed its budget.
    expect(used).toBeLessThanOrEqual(3000 + 15 * admitted.length);
    await expect.poll(async () => (await loadUsage(server)).windows.day.tokens).toBe(used);
    expect((await loadUsage(server)).reserved).toEqual({ tokens: 0, cost: 0 });
  });

  it("create exactly as many sessions as the quota allows, and deleting one makes room (A92)", async () => {
    const server = serve({ sessions: 7 }, { store: open() });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_item, n) =>
        n % 2 === 0
          ? server.send("POST", "/api/sessions", {})
          : server.send("POST", "/api/runs", { input: "Go" }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7);
    const { sessions } = await (await server.send("GET", "/api/sessions")).json();
    expect(sessions).toHaveLength(7);
    expect((await start(server)).body.error).toMatchObject({
      quota: { name: "sessions", limit: 7 },
      retryable: false,
    });
    // A session that exists takes more runs, once its first has ended.
    const startAgain = async () => (await start(server, { sessionId: sessions[0].id })).status;
    await expect.poll(startAgain).toBe(201);
    await server.send("DELETE", `/api/sessions/${sessions[1].id}`);
    expect((await server.send("POST", "/api/sessions", {})).status).toBe(201);
  });
});

it("two servers on one store count together, in one record per user (A92)", async () => {
  const store = sqlite(":memory:");
  const two = [serve({ runs: { day: 20 } }, { store }), serve({ runs: { day: 20 } }, { store })];
  const answers = await startMany(two, 100);
  expect([count(answers, 201), count(answers, 429)]).toEqual([20, 80]);
  expect(await store.listRecordVersions("usage", "local")).toHaveLength(1);
});

it("the quotas of a user replace the default field by field, and those of a key replace the user's (A92)", async () => {
  const server = createTestServer({
    agents: [createHelper()],
    quotas: {
      default: { runs: { day: 2 } },
      users: { bob: { runs: { day: 4 } }, eve: { runs: "unlimited" } },
    },
  });
  servers.push(server);
  const createHeaders = async (user: string, quotas?: Quotas) => {
    const { secret } = await server.keys.create({ user, ...(quotas && { quotas }) });
    return { authorization: `Bearer ${secret}` };
  };
  const countStarted = async (headers: object) => count(await startMany([server], 10, headers), 201);
  expect(await countStarted(await createHeaders("ada"))).toBe(2);
  expect(await countStarted(await createHeaders("bob"))).toBe(4);
  expect(await countStarted(await createHeaders("bob", { runs: { day: 5 } }))).toBe(1);
  expect(await countStarted(await createHeaders("eve"))).toBe(10);
});

it("a run that would cost $1,000 ends by its budget, and the next one is refused until midnight (A92)", async () => {
  const dear = { inputTokens: 1000, outputTokens: 1000, cost: 3 };
  const model = scriptedModel((_, n) => ({ calls: [{ name: "again", input: { n } }], usage: dear }));
  const agent = defineAgent({ name: "dear", model, tools: [again], policy: { maxTurns: 1000 } });
  const server = serve({ cost: { day: 10 }, concurrentRuns: 1 }, { agent });
  const { runId } = (await start(server)).body;
  await waitUntilEnded(server, runId);
  const { result } = await (await server.send("GET", `/api/runs/${runId}`)).json();
  expect(result).toMatchObject({ status: "limit", error: { code: "budget_cost" }, cost: 12 });
  const refused = await start(server);
  expect(refused.body.error.message).toMatch(/^Your quota of \$10 per day is used up/);
});

it("a waiting run frees its place, and what it has used is counted before it ends (A92)", async () => {
  const model = scriptedModel([{ calls: [{ name: "pay" }] }, { text: "Paid." }]);
  const server = serve(
    { concurrentRuns: 1, tokens: { day: 40 } },
    { agent: defineAgent({ name: "payer", model, tools: [pay] }) },
  );
  const { runId } = (await start(server)).body;
  await expect.poll(async () => (await loadUsage(server)).windows.day.tokens).toBe(15);
  expect(await loadUsage(server)).toMatchObject({ activeRuns: 0, reserved: { tokens: 0 } });
  const { pending } = await (await server.send("GET", `/api/runs/${runId}`)).json();
  const path = `/api/runs/${runId}/approvals/${pending[0].callId}`;
  expect((await server.send("POST", path, { approved: true })).status).toBe(202);
  await waitUntilEnded(server, runId);
  await expect
    .poll(() => loadUsage(server))
    .toMatchObject({
      activeRuns: 0,
      windows: { day: { runs: 1, tokens: 30 } },
    });
});

it("a message to a busy session is a run of its own, but needs no free place (A92)", async () => {
  const hanging = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
  const server = serve(
    { concurrentRuns: 1, runs: { day: 3 } },
    { agent: defineAgent({ name: "slow", model: hanging }) },
  );
  const { runId, sessionId } = (await start(server)).body;
  const queued = (await start(server, { sessionId })).body;
  expect((await start(server)).body.error.quota?.name).toBe("concurrentRuns");
  await server.send("POST", `/api/runs/${runId}/cancel`, {});
  const getState = async () => (await (await server.send("GET", `/api/runs/${queued.runId}`)).json()).state;
  await expect.poll(getState).toBe("active");
  await expect.poll(() => loadUsage(server)).toMatchObject({ activeRuns: 1, windows: { day: { runs: 2 } } });
  expect((await start(server)).body.error.quota?.name).toBe("concurrentRuns");
});

it("a session over the quota of storage is refused before it starts, and deleting one frees it (A92)", async () => {
  const server = serve({ storage: 20_000 });
  const { sessionId } = (await start(server, { input: "x".repeat(25_000) })).body;
  const refused = await start(server);
  expect([refused.status, refused.retryAfter]).toEqual([429, null]);
  expect(refused.body.error).toMatchObject({
    retryable: false,
    message: "Your quota of 20,000 bytes of storage is used up. Delete sessions to free space.",
    quota: { name: "storage", limit: 20_000 },
  });
  const exported = await (await server.send("GET", `/api/sessions/${sessionId}/export`)).text();
  await server.send("DELETE", `/api/sessions/${sessionId}`);
  const imported = await server.send("POST", "/api/sessions", { file: exported });
  expect((await imported.json()).error.quota.name).toBe("storage");
  expect((await start(server)).status).toBe(201);
});

it("a user has a limited number of concurrent streams and runs, and a released slot can be reused (A92)", async () => {
  const hanging = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
  const server = serve(
    { concurrentRuns: 2, streams: 3 },
    { agent: defineAgent({ name: "slow", model: hanging }) },
  );
  const { runId } = (await start(server)).body;
  expect((await start(server)).status).toBe(201);
  const third = await start(server);
  expect([third.status, third.retryAfter]).toEqual([429, "5"]);
  const listen = () => server.send("GET", `/api/runs/${runId}/events`);
  const streams = [await listen(), await listen(), await listen()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await listen()).status).toBe(429);
  expect((await server.send("HEAD", `/api/runs/${runId}/events`)).status).toBe(429);
  await streams[0]?.body?.cancel();
  expect((await server.send("HEAD", `/api/runs/${runId}/events`)).status).toBe(200);
  expect((await listen()).status).toBe(200); // HEAD released its place
});

describe("after a process was killed", () => {
  const ada = (quotas: Quotas): Caller => ({ user: "ada", scope: "ada", isAdmin: false, quotas });
  const limited = ada({ runs: { day: 5 }, tokens: { day: 100 }, concurrentRuns: 1 });

  function open() {
    const clock = fakeClock({ start: Date.UTC(2026, 0, 31, 12) });
    const store = memory();
    const agent = createHelper();
    const engine = local({ store, agents: [agent] });
    const admission: QuotaAdmission = createQuotaAdmission({
      ...{ store, now: clock.now, getResult: engine.getResult },
      report(thrown) {
        throw thrown;
      },
    });
    return { clock, agent, engine, admission };
  }

  it("a reservation whose run never started is given back, with its run, when it expires", async () => {
    const { clock, admission, engine } = open();
    await admission.admit(limited, { runId: "r1", sessionId: "ada~1", policy: {} });
    await expect(
      admission.admit(limited, { runId: "r2", sessionId: "ada~2", policy: {} }),
    ).rejects.toMatchObject({
      code: "quota_exceeded",
      quota: { name: "concurrentRuns" },
    });
    await clock.advance(61_000);
    await admission.admit(limited, { runId: "r2", sessionId: "ada~2", policy: {} });
    expect(await admission.loadUsage("ada")).toMatchObject({ activeRuns: 1, windows: { day: { runs: 1 } } });
    await engine.close();
  });

  it("a run that ended uncounted is counted from its facts, once", async () => {
    const { clock, agent, admission, engine } = open();
    await admission.admit(limited, { runId: "r1", sessionId: "ada~1", policy: {} });
    const run = engine.run(agent, "Go", { session: "ada~1", runId: "r1" });
    const events = await Array.fromAsync(run);
    await clock.advance(2000);
    await admission.admit(limited, { runId: "r2", sessionId: "ada~2", policy: {} });
    const counted = { activeRuns: 1, windows: { day: { runs: 2, tokens: 15 } } };
    expect(await admission.loadUsage("ada")).toMatchObject(counted);
    // The process was not gone after all.
    for (const event of events) admission.record(event);
    await admission.close();
    expect(await admission.loadUsage("ada")).toMatchObject(counted);
    await engine.close();
  });
});

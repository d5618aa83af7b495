import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
afterEach(() => server.close(0));

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { type: "object" },
  needsApproval: "It costs money.",
  effects: "send",
  execute: () => "Paid.",
});

function serve(options: Partial<ServerOptions> = {}): ReturnType<typeof memory> {
  const store = memory();
  const model = scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result")
      ? { text: "Done." }
      : { calls: [{ id: "c1", name: "pay", input: {} }] },
  );
  server = createTestServer({
    agents: [defineAgent({ name: "helper", model, tools: [pay] })],
    store,
    ...options,
  });
  return store;
}

async function send(path: string, body: object) {
  const answer = await server.send("POST", path, body, { "idempotency-key": "k" });
  const { error, ...made } = await answer.json();
  return { status: answer.status, code: error?.code, made };
}
const conflict = { status: 409, code: "idempotency_conflict" };

async function waitForState(runId: string, state: string): Promise<void> {
  while ((await (await server.send("GET", `/api/runs/${runId}`)).json()).state !== state)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a start that is repeated with its Idempotency-Key after its process died", () => {
  it("is stored at once, and its run starts after the lease of that process (F84)", async () => {
    const store = serve({ leaseMs: 300 });
    const { made: session } = await send("/api/sessions", {});
    expect(await store.lease(session.id, "a process that died", 300)).toBeDefined();
    const request = { input: "Pay", sessionId: session.id };
    const { made, status } = await send("/api/runs", request);
    expect(status).toBe(202);
    expect(await send("/api/runs", request)).toMatchObject({ made });
    await waitForState(made.runId, "waiting");
    expect(await send("/api/runs", request)).toMatchObject({ status: 200, made });
    expect(await store.listRuns(session.id)).toHaveLength(1);
  });

  it("with `onBusy: reject` is refused at once while the session has another run", async () => {
    serve();
    const { made: session } = await send("/api/sessions", {});
    const first = { input: "Pay", sessionId: session.id };
    const { runId } = await (await server.send("POST", "/api/runs", first)).json();
    await waitForState(runId, "waiting");
    const second = { ...first, policy: { onBusy: "reject" } };
    expect(await send("/api/runs", second)).toMatchObject({ status: 409, code: "session_busy" });
  });

  it("is answered at once when the start is stored: the run is taken over later (F84)", async () => {
    const store = serve();
    const { made, status } = await send("/api/runs", { input: "Pay" });
    expect(status).toBe(201);
    await waitForState(made.runId, "waiting");
    expect(await store.lease(made.sessionId, "a process that died", 60_000)).toBeDefined();
    expect(await send("/api/runs", { input: "Pay" })).toMatchObject({ status: 200, made });
  });
});

describe("the same Idempotency-Key with another body", () => {
  const asked = { input: "Pay", policy: { maxTurns: 3, budget: { tokens: 900 } }, timeZone: "Europe/Oslo" };
  it.each([
    ["no policy", { input: "Pay", timeZone: "Europe/Oslo" }],
    ["another budget", { ...asked, policy: { maxTurns: 3, budget: { tokens: 901 } } }],
    ["another time zone", { ...asked, timeZone: "Asia/Tokyo" }],
    ["the agent named", { ...asked, agent: "helper" }],
  ])("is refused for a run with %s (F84)", async (_, other) => {
    serve();
    const { made, status } = await send("/api/runs", asked);
    expect(status).toBe(201);
    expect(await send("/api/runs", other)).toMatchObject(conflict);
    expect(await send("/api/runs", asked)).toMatchObject({ status: 200, made });
  });

  it("is the same request whatever the order of its fields is (F84)", async () => {
    serve();
    await send("/api/runs", asked);
    const turned = Object.fromEntries(Object.entries(asked).toReversed());
    expect((await send("/api/runs", turned)).status).toBe(200);
  });

  it("is refused for a decision with another reason, also after delivery (F84)", async () => {
    serve();
    const { made } = await send("/api/runs", { input: "Pay" });
    await waitForState(made.runId, "waiting");
    const path = `/api/runs/${made.runId}/approvals/c1`;
    expect((await send(path, { approved: false, reason: "Too dear" })).status).toBe(202);
    await waitForState(made.runId, "ended");
    expect(await send(path, { approved: false, reason: "Not now" })).toMatchObject(conflict);
    expect((await send(path, { approved: false, reason: "Too dear" })).status).toBe(202);
  });

  it("is refused for a session, and the same body finds the session when it has been used (F84)", async () => {
    serve();
    const { made } = await send("/api/sessions", { title: "Plans" });
    expect(await send("/api/sessions", {})).toMatchObject(conflict);
    const run = await (await server.send("POST", "/api/runs", { input: "Pay", sessionId: made.id })).json();
    await waitForState(run.runId, "waiting");
    expect(await send("/api/sessions", { title: "Plans" })).toMatchObject({
      ...{ status: 200, made: { id: made.id } },
    });
  });

  it("is refused for a run that is made again with a policy that changes nothing (F84)", async () => {
    serve();
    const { made } = await send("/api/runs", { input: "Pay" });
    const path = `/api/runs/${made.runId}/rerun`;
    expect((await send(path, {})).status).toBe(201);
    expect(await send(path, { policy: { maxTurns: 10 } })).toMatchObject(conflict);
    expect((await send(path, {})).status).toBe(200);
  });

  it("leaves nothing behind when its session is removed (F84)", async () => {
    const store = serve();
    const { made } = await send("/api/runs", { input: "Pay" });
    await waitForState(made.runId, "waiting");
    const kind = `asked ${made.sessionId}`;
    expect(await store.listRecords(kind)).toHaveLength(1);
    await server.send("DELETE", `/api/sessions/${made.sessionId}`);
    expect(await store.listRecords(kind)).toEqual([]);
  });
});

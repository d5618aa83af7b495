import { type Agent, defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: TestServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close(0);
});

function serve(store: Store, ...agents: Agent[]): TestServer {
  const server = createTestServer({ agents, store });
  opened.push(server);
  return server;
}

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: {},
  needsApproval: true,
  effects: "send",
  execute: () => "Paid.",
});

function createAgent(name: string, tools = [pay]): Agent {
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" || tools.length === 0
      ? { text: "All done." }
      : { calls: [{ id: "c1", name: "pay" }] },
  );
  return defineAgent({ name, model, tools });
}

/** Leaves a run that waits for approval, and whose server is gone. */
async function leaveWaitingRun(
  store: Store,
): Promise<{ readonly runId: string; readonly sessionId: string }> {
  const server = serve(store, createAgent("clerk"));
  const run = await (await server.send("POST", "/api/runs", { input: "Go" })).json();
  const loadState = async () => (await (await server.send("GET", `/api/runs/${run.runId}`)).json()).state;
  await expect.poll(loadState).toBe("waiting");
  await server.close(0);
  return run;
}

const listStuck = async (server: TestServer, query = "") =>
  (await (await server.send("GET", `/api/runs?state=stuck${query}`)).json()).runs;

it("a run whose agent is gone is listed with the reason, and messages to it are answered with 409", async () => {
  const store = memory();
  const { runId, sessionId } = await leaveWaitingRun(store);
  const server = serve(store, createAgent("other"));
  const message =
    'The agent "clerk" is not configured. Add it to the agents of this process, or cancel the run.';
  const stuck = {
    runId,
    sessionId,
    agent: "clerk",
    state: "waiting",
    reason: { code: "unknown_agent", message },
  };
  expect(await listStuck(server)).toMatchObject([stuck]);
  expect(await listStuck(server, `&sessionId=${sessionId}`)).toMatchObject([stuck]);
  for (const [path, body] of [
    ["approvals/c1", { approved: true }],
    ["steer", { text: "Hello?" }],
  ] as const) {
    const response = await server.send("POST", `/api/runs/${runId}/${path}`, body);
    expect(response.status).toBe(409);
    expect((await response.json()).error).toMatchObject({
      code: "run_stuck",
      message: expect.stringContaining(message),
    });
  }
  const view = await server.send("GET", `/api/runs/${runId}`);
  expect(view.status).toBe(200);
  expect((await server.send("POST", `/api/runs/${runId}/cancel`, {})).status).toBe(202);
  await expect.poll(() => listStuck(server)).toEqual([]);
});

it("a run that waits for a tool that is gone is listed with the reason, and its call can be denied", async () => {
  const store = memory();
  const { runId } = await leaveWaitingRun(store);
  const server = serve(store, createAgent("clerk", []));
  expect(await listStuck(server)).toMatchObject([{ runId, reason: { code: "unknown_tool" } }]);
  const approve = await server.send("POST", `/api/runs/${runId}/approvals/c1`, { approved: true });
  expect(approve.status).toBe(409);
  const deny = await server.send("POST", `/api/runs/${runId}/approvals/c1`, { approved: false });
  expect(deny.status).toBe(202);
  await expect.poll(() => listStuck(server)).toEqual([]);
});

it("the runs of other users are not listed, and a run that can continue is not stuck", async () => {
  const store = memory();
  const { sessionId } = await leaveWaitingRun(store);
  expect(await listStuck(serve(store, createAgent("clerk")))).toEqual([]);
  const server = serve(store, createAgent("other"));
  expect(await listStuck(server)).toHaveLength(1);
  const { secret } = await server.keys.create({ user: "ada" });
  const asAda = { authorization: `Bearer ${secret}` };
  const listed = await (await server.send("GET", "/api/runs?state=stuck", undefined, asAda)).json();
  expect(listed.runs).toEqual([]);
  const path = `/api/runs?state=stuck&sessionId=${sessionId}`;
  expect((await server.send("GET", path, undefined, asAda)).status).toBe(404);
});

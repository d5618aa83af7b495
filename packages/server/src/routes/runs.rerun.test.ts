import { defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
  execute: () => "paid",
});
const model = scriptedModel(({ history, tools }) => {
  const said = history.findLast(({ type }) => type === "user");
  const isPaid = history.at(-1)?.type === "result";
  if (said?.type === "user" && said.content === "pay" && !isPaid) return { calls: [{ name: "pay" }] };
  return { text: tools.length === 0 ? "Forced." : "Hello." };
});

let server: TestServer;
beforeEach(() => {
  const agents = [defineAgent({ name: "helper", model, tools: [pay] })];
  server = createTestServer({ agents, store: memory(), policyLimits: { maxTurns: 10 } });
});
afterEach(() => server.close(0));

const get = async (path: string) => (await server.send("GET", path)).json();
type Run = { readonly runId: string; readonly sessionId: string };

async function waitForState({ runId, sessionId }: Run, state: string): Promise<Run> {
  while ((await get(`/api/runs/${runId}`)).state !== state)
    await new Promise((resolve) => setTimeout(resolve, 2));
  return { runId, sessionId };
}

const run = async (body: object, state = "ended") =>
  waitForState(await (await server.send("POST", "/api/runs", body)).json(), state);

describe("running again", () => {
  it("starts the run again in a fork from before it, under another policy", async () => {
    const { sessionId } = await run({ input: "First" });
    const { runId } = await run({ input: "Second", sessionId });
    const answer = await server.send("POST", `/api/runs/${runId}/rerun`, { policy: { maxTurns: 1 } });
    expect(answer.status).toBe(201);
    const again = await waitForState(await answer.json(), "ended");
    const { result } = await get(`/api/runs/${again.runId}`);
    expect(result).toMatchObject({ text: "Forced." });
    const { origin, runs } = await get(`/api/sessions/${again.sessionId}`);
    expect(runs.map(({ words }: { words: string }) => words)).toEqual(["First", "Second"]);
    expect(origin.sessionId).toBe(sessionId);
    const { forks } = await get(`/api/sessions/${sessionId}`);
    expect(forks).toMatchObject([{ sessionId: again.sessionId, at: origin.at }]);

    const difference = await get(`/api/runs/${runId}/difference/${again.runId}`);
    expect(difference).toMatchObject({
      isSame: false,
      status: { left: "done" },
      turns: [{ type: "changed" }],
    });
  });

  it("keeps to the limits of the server, and starts once for one key", async () => {
    const { runId } = await run({ input: "First" });
    const path = `/api/runs/${runId}/rerun`;
    expect((await server.send("POST", path, { policy: { maxTurns: 99 } })).status).toBe(400);
    const key = { "idempotency-key": "once" };
    const first = await server.send("POST", path, {}, key);
    const second = await server.send("POST", path, {}, key);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await second.json()).toEqual(await first.json());
    expect((await server.send("POST", path, { policy: { maxTurns: 2 } }, key)).status).toBe(409);
  });

  it("is a run like any other: it can be approved and stopped", async () => {
    const { runId } = await run({ input: "pay" }, "waiting");
    const again = await (await server.send("POST", `/api/runs/${runId}/rerun`, {})).json();
    await waitForState(again, "waiting");
    const { pending } = await get(`/api/runs/${again.runId}`);
    await server.send("POST", `/api/runs/${again.runId}/approvals/${pending[0].callId}`, { approved: true });
    await waitForState(again, "ended");
    const other = await (await server.send("POST", `/api/runs/${runId}/rerun`, {})).json();
    await waitForState(other, "waiting");
    await server.send("POST", `/api/runs/${other.runId}/cancel`, {});
    await waitForState(other, "ended");
    expect((await get(`/api/runs/${other.runId}`)).result.status).toBe("cancelled");
  });
});

describe("branches", () => {
  it("are known at both ends, and removed with the session", async () => {
    const { sessionId } = await run({ input: "First" });
    const fork = async (at: number) =>
      (await server.send("POST", `/api/sessions/${sessionId}/fork`, { at, title: `Fork ${at}` })).json();
    const [two, none] = [await fork(2), await fork(0)];
    expect(none.facts).toBe(0);
    expect((await get(`/api/sessions/${two.id}`)).origin).toEqual({ sessionId, at: 2 });
    expect((await get(`/api/sessions/${sessionId}`)).forks).toEqual([
      { sessionId: two.id, at: 2, title: "Fork 2" },
      { sessionId: none.id, at: 0, title: "Fork 0" },
    ]);
    await server.send("DELETE", `/api/sessions/${two.id}`);
    expect((await get(`/api/sessions/${sessionId}`)).forks).toMatchObject([{ sessionId: none.id }]);
    await server.send("DELETE", `/api/sessions/${sessionId}`);
    expect(await get(`/api/sessions/${none.id}`)).not.toHaveProperty("origin");
  });

  it("made at the same moment are all remembered", async () => {
    const { sessionId } = await run({ input: "First" });
    const path = `/api/sessions/${sessionId}/fork`;
    await Promise.all(Array.from({ length: 8 }, () => server.send("POST", path, { at: 1 })));
    expect((await get(`/api/sessions/${sessionId}`)).forks).toHaveLength(8);
  });
});

import { defineAgent, defineTool, run, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const sessionId = "ses_long";
const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { type: "object" },
  needsApproval: true,
  effects: "send",
  execute: () => "Paid.",
});
const model = scriptedModel(({ history }) => {
  const last = history.at(-1);
  return last?.type === "user" && last.content === "Pay." ? { calls: [{ name: "pay" }] } : { text: "Fine." };
});
const agent = defineAgent({ name: "helper", model, tools: [pay], policy: { historyLimit: 10 } });

let server: TestServer;
let store: Store;
/** Sizes of the reads since the last request. */
let reads: number[] = [];
const countRead = () => reads.reduce((sum, facts) => sum + facts, 0);

beforeEach(async () => {
  store = memory();
  for (let index = 0; index < 250; index++)
    await run(agent, `Question ${index}.`, { store, session: sessionId, runId: `run_${index}` });
  const counting: Store = {
    ...store,
    async read(...query) {
      const facts = await store.read(...query);
      reads.push(facts.length);
      return facts;
    },
  };
  server = createTestServer({ agents: [agent], store: counting });
});
afterEach(() => server.close(0));

async function request(method: string, path: string, body?: object) {
  reads = [];
  const response = await server.send(method, path, body, { accept: "application/json" });
  return { status: response.status, body: await response.json() };
}

describe("in a session with more than a thousand facts", () => {
  it("a new run, its approval and its result read no more than the tail of the log (S1-20)", async () => {
    expect((await store.getSession(sessionId))?.facts).toBeGreaterThan(1000);
    const started = await request("POST", "/api/runs", { input: "Pay.", sessionId });
    expect(started.status).toBe(201);
    expect(countRead()).toBeLessThanOrEqual(320);
    const { runId } = started.body;
    const path = `/api/runs/${runId}`;
    await expect
      .poll(async () => (await request("GET", path)).body.state, { timeout: 30_000 })
      .toBe("waiting");
    const { body } = await request("GET", path);
    expect(countRead()).toBeLessThanOrEqual(320);
    const { callId, digest } = body.pending[0];
    const approve = () => request("POST", `${path}/approvals/${callId}`, { approved: true, digest });
    expect((await approve()).status).toBe(202);
    // Once for the check, and once by the run that goes on.
    expect(reads.length).toBeLessThanOrEqual(2);
    expect(countRead()).toBeLessThanOrEqual(2 * 320);
    await expect.poll(async () => (await request("GET", path)).body.state, { timeout: 30_000 }).toBe("ended");
    expect((await approve()).status).toBe(202);
    expect(countRead()).toBeLessThanOrEqual(320);
  });

  it("pages of facts are read from its end, each with the start of its first run", async () => {
    const facts = await store.read(sessionId);
    const path = `/api/sessions/${sessionId}/facts`;
    const found: object[] = [];
    for (let before: number | undefined; ; ) {
      const { body } = await request("GET", `${path}?limit=300${before ? `&before=${before}` : ""}`);
      expect(reads[0]).toBeLessThanOrEqual(300);
      const [first] = body.facts;
      expect(body.start ?? first).toEqual(facts.find((fact) => fact.runId === first.runId));
      found.unshift(...body.facts);
      before = body.previous;
      if (before === undefined) break;
    }
    expect(found).toEqual(facts);
    expect((await request("GET", "/api/sessions/ses_none/facts")).status).toBe(404);
  });

  it("the facts of one run are read from its first fact on", async () => {
    for (const runId of ["run_0", "run_120", "run_249"]) {
      const { body } = await request("GET", `/api/runs/${runId}/events`);
      expect(body.facts.every((fact: { runId: string }) => fact.runId === runId)).toBe(true);
      expect(body.facts.at(-1).type).toBe("done");
      expect(countRead()).toBeLessThanOrEqual(500);
    }
  });
});

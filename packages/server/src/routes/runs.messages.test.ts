import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentTool, defineAgent, defineTool, type Fact, type Json, type Store, type Tool } from "capstan";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** An agent that calls this tool once, as `c1`, then repeats the result. */
function createCallScript(tool: Tool, input: Json = {}): Script {
  return ({ history }) => {
    const result = history.findLast((entry) => entry.type === "result");
    return result
      ? { text: `Got ${JSON.stringify(result.content)}` }
      : { calls: [{ id: "c1", name: tool.name, input }] };
  };
}

function serve(
  tool: Tool,
  { store = memory(), script = createCallScript(tool) }: Partial<Setting> = {},
): TestServer {
  const agent = defineAgent({ name: "helper", model: scriptedModel(script), tools: [tool] });
  const server = createTestServer({ agents: [agent], store });
  opened.unshift({ close: () => server.close(0) });
  return server;
}
type Setting = { readonly store: Store; readonly script: Script };

async function start(server: TestServer): Promise<{ runId: string; sessionId: string }> {
  return (await server.send("POST", "/api/runs", { input: "Go" })).json();
}

type Shown = { state: string; pending: { callId: string; needs: string; digest: string; name: string }[] };

/** Returns the run when it has reached a state. */
async function waitForState(server: TestServer, runId: string, state: string): Promise<Shown> {
  for (;;) {
    const run = await (await server.send("GET", `/api/runs/${runId}`)).json();
    if (run.state === state) return run;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function sendMessage(server: TestServer, path: string, body: object, key?: string) {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  const answer = await server.send("POST", `/api/runs/${path}`, body, headers);
  return { status: answer.status, code: (await answer.json()).error?.code };
}

async function readFacts(server: TestServer, runId: string): Promise<readonly Fact[]> {
  const answer = await server.send("GET", `/api/runs/${runId}/events`, undefined, {
    accept: "application/json",
  });
  return (await answer.json()).facts;
}
const ok = { status: 202, code: undefined };

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { type: "object" },
  needsApproval: "It costs money.",
  effects: "send",
  execute: () => "Paid.",
});
const payWithLimit = defineTool({
  name: "pay_with_limit",
  description: "Pays",
  input: { type: "object", properties: { amount: { type: "number" } } },
  needsApproval(input: unknown) {
    const { amount = 0 } = input as { amount?: number };
    if (amount > 100) throw new Error("More than 100 is not allowed.");
    return { reason: `Pays ${amount}.`, ui: { kind: "table", props: { amount } } };
  },
  effects: "send",
  execute: () => "Paid.",
});
const move = defineTool({
  name: "move",
  description: "Moves the map",
  input: { type: "object" },
  effects: "ui",
});
const seat = defineTool({
  name: "seat",
  description: "Asks for a seat",
  input: { type: "object" },
  execute: (_, { answers }) =>
    answers.length > 0
      ? answers
      : { ask: { message: "Which seat?", schema: { type: "string", enum: ["window", "aisle"] } } },
});

describe("a call that needs approval", () => {
  it("waits, is approved by the digest that the user was shown, and runs once", async () => {
    const server = serve(pay);
    const { runId } = await start(server);
    const { pending } = await waitForState(server, runId, "waiting");
    expect(pending).toMatchObject([{ callId: "c1", needs: "approval", reason: "It costs money." }]);
    const path = `${runId}/approvals/c1`;
    expect(await sendMessage(server, path, { approved: true, digest: "another" })).toEqual({
      status: 409,
      code: "approval_mismatch",
    });
    const digest = pending[0]?.digest;
    expect(await sendMessage(server, path, { approved: true, digest })).toEqual(ok);
    await waitForState(server, runId, "ended");
    expect(await sendMessage(server, path, { approved: true, digest })).toEqual(ok);
    expect(await sendMessage(server, path, { approved: false })).toEqual({
      status: 409,
      code: "approval_conflict",
    });
    const facts = await readFacts(server, runId);
    expect(facts.filter(({ type }) => type === "tool_call_start")).toHaveLength(1);
    expect(facts.filter(({ type }) => type === "approval_resolved")).toHaveLength(1);
  });

  it("shows what changed arguments would do, and refuses those that its tool refuses", async () => {
    const server = serve(payWithLimit, { script: createCallScript(payWithLimit, { amount: 5 }) });
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    const path = `${runId}/approvals/c1`;
    const preview = async (body: object) =>
      (await server.send("POST", `/api/runs/${path}/preview`, body)).json();
    expect(await preview({})).toMatchObject({
      reason: "Pays 5.",
      input: { amount: 5 },
      inputSchema: { type: "object" },
    });
    expect(await preview({ input: { amount: 7 } })).toMatchObject({
      ...{ callId: "c1", reason: "Pays 7.", input: { amount: 7 }, ui: { props: { amount: 7 } } },
    });
    const refusal = { error: { code: "invalid_input", message: expect.stringContaining("More than 100") } };
    expect(await preview({ input: { amount: 700 } })).toMatchObject(refusal);
    const invalid = { status: 400, code: "invalid_input" };
    expect(await sendMessage(server, path, { approved: true, input: { amount: 700 } })).toEqual(invalid);
    expect(await sendMessage(server, path, { approved: true, input: { amount: 7 } })).toEqual(ok);
    await waitForState(server, runId, "ended");
    expect(await preview({ input: { amount: 7 } })).toMatchObject({ error: { code: "unknown_call" } });
  });

  it("is made with the arguments that the user changed, if they are valid and for this call only", async () => {
    const server = serve(pay);
    const { runId } = await start(server);
    const { pending } = await waitForState(server, runId, "waiting");
    const path = `${runId}/approvals/c1`;
    const digest = pending[0]?.digest;
    const invalid = { status: 400, code: "invalid_input" };
    expect(await sendMessage(server, path, { approved: true, digest, input: "to Bob" })).toEqual(invalid);
    expect(await sendMessage(server, path, { approved: true, digest, input: {}, always: true })).toEqual(
      invalid,
    );
    expect(await sendMessage(server, path, { approved: false, input: {} })).toEqual(invalid);
    const input = { to: "Bob" };
    expect(await sendMessage(server, path, { approved: true, digest, input })).toEqual(ok);
    await waitForState(server, runId, "ended");
    expect(await sendMessage(server, path, { approved: true, digest, input })).toEqual(ok);
    const conflict = { status: 409, code: "approval_conflict" };
    expect(await sendMessage(server, path, { approved: true, digest })).toEqual(conflict);
    const facts = await readFacts(server, runId);
    expect(facts.filter(({ type }) => type === "approval_resolved")).toMatchObject([
      { approved: true, input },
    ]);
    expect(facts.filter(({ type }) => type === "tool_call_start")).toMatchObject([{ arguments: input }]);
  });

  it("is refused with a reason that the model gets to read", async () => {
    const server = serve(pay);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    expect(
      await sendMessage(server, `${runId}/approvals/c1`, { approved: false, reason: "Too dear" }),
    ).toEqual(ok);
    await waitForState(server, runId, "ended");
    const results = (await readFacts(server, runId)).filter((fact) => fact.type === "tool_call_result");
    expect(results).toMatchObject([{ status: "denied", result: expect.stringContaining("Too dear") }]);
  });

  it("takes one decision under a key: another one is refused (F84)", async () => {
    const server = serve(pay);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    const path = `${runId}/approvals/c1`;
    const answers = await Promise.all([
      sendMessage(server, path, { approved: true }, "k"),
      sendMessage(server, path, { approved: true }, "k"),
    ]);
    expect(answers).toEqual([ok, ok]);
    expect((await sendMessage(server, path, { approved: false }, "k")).status).toBe(409);
    await waitForState(server, runId, "ended");
    expect(await sendMessage(server, path, { approved: true }, "k")).toEqual(ok);
    expect((await sendMessage(server, path, { approved: false }, "k")).status).toBe(409);
  });

  it("of a nested run is answered like any other", async () => {
    const inner = defineAgent({ name: "inner", model: scriptedModel(createCallScript(pay)), tools: [pay] });
    const payer = agentTool(inner, { name: "payer", description: "Pays" });
    const script: Script = ({ history }) =>
      history.some(({ type }) => type === "result")
        ? { text: "Done." }
        : { calls: [{ id: "outer", name: "payer", input: { prompt: "Pay" } }] };
    const server = serve(payer, { script });
    const { runId } = await start(server);
    const { pending } = await waitForState(server, runId, "waiting");
    expect(pending).toMatchObject([{ name: "pay", needs: "approval" }]);
    expect(await sendMessage(server, `${runId}/approvals/${pending[0]?.callId}`, { approved: true })).toEqual(
      ok,
    );
    await waitForState(server, runId, "ended");
  });
});

describe("the question of a tool", () => {
  it("takes an answer that is valid by its schema; a wrong one is refused, and it still waits", async () => {
    const server = serve(seat);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    const path = `${runId}/approvals/c1`;
    expect(await sendMessage(server, path, { approved: true, value: "roof" })).toEqual({
      status: 400,
      code: "invalid_input",
    });
    expect(await sendMessage(server, path, { approved: true })).toEqual({
      status: 400,
      code: "invalid_input",
    });
    expect((await waitForState(server, runId, "waiting")).pending).toHaveLength(1);
    expect(await readFacts(server, runId)).not.toContainEqual(expect.objectContaining({ type: "warning" }));
    expect(await sendMessage(server, path, { approved: true, value: "aisle" }, "k")).toEqual(ok);
    await waitForState(server, runId, "ended");
    expect(await sendMessage(server, path, { approved: true, value: "aisle" }, "k")).toEqual(ok);
    expect((await sendMessage(server, path, { approved: true, value: "window" }, "k")).status).toBe(409);
    expect(await readFacts(server, runId)).toContainEqual(
      expect.objectContaining({ type: "approval_resolved", value: "aisle" }),
    );
  });
});

describe("a tool that the page runs", () => {
  it("keeps its run waiting over a restart of the server, and takes its result once (S0-50, C-28)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-answers-"));
    opened.push({ close: () => rmSync(folder, { recursive: true }) });
    const open = () => {
      const store = sqlite(join(folder, "capstan.db"));
      opened.unshift(store);
      return store;
    };
    const before = open();
    const first = serve(move, { store: before });
    const { runId } = await start(first);
    expect((await waitForState(first, runId, "waiting")).pending).toMatchObject([
      { callId: "c1", needs: "answer" },
    ]);
    await first.close(0);
    await before.close();
    const second = serve(move, { store: open() });
    const path = `${runId}/results/c1`;
    const value = { zoom: 3 };
    expect(await sendMessage(second, path, { value }, "k")).toEqual(ok);
    expect((await waitForState(second, runId, "ended")).pending).toEqual([]);
    expect(await sendMessage(second, path, { value }, "k")).toEqual(ok);
    expect(await sendMessage(second, path, { value: { zoom: 4 } }, "k")).toEqual({
      status: 409,
      code: "approval_conflict",
    });
    expect((await readFacts(second, runId)).at(-1)).toMatchObject({
      type: "done",
      text: expect.stringContaining("zoom"),
    });
  });

  it("may answer as soon as it sees the call, before the run has suspended (S0-50)", async () => {
    const server = serve(move);
    const { runId } = await start(server);
    const { body } = await server.send("GET", `/api/runs/${runId}/events`);
    let seen = "";
    for await (const chunk of body ?? []) {
      seen += Buffer.from(chunk).toString();
      if (seen.includes("event: tool_call_start")) break;
    }
    expect(await sendMessage(server, `${runId}/results/c1`, { value: "moved" })).toEqual(ok);
    await waitForState(server, runId, "ended");
  });

  it.each([
    ["that the server runs", pay, "c1"],
    ["that needs approval", seat, "c1"],
    ["that does not exist", move, "c2"],
  ])("gives no result for a call %s: it is refused, and the run waits on", async (_, tool, callId) => {
    const server = serve(tool as Tool);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    expect(await sendMessage(server, `${runId}/results/${callId}`, { value: "forged" })).toEqual({
      status: 404,
      code: "unknown_call",
    });
    expect((await waitForState(server, runId, "waiting")).pending).toHaveLength(1);
  });

  it("cannot be approved, because no approval is pending", async () => {
    const server = serve(move);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    expect(await sendMessage(server, `${runId}/approvals/c1`, { approved: true })).toEqual({
      status: 404,
      code: "unknown_call",
    });
  });
});

describe("an active run", () => {
  const slow = (): Script => {
    return (_, index) => (index === 0 ? { text: "Hm", hang: true } : { text: "Well." });
  };

  it("is cancelled by a separate request, and a repeated one has no further effect (F84)", async () => {
    const server = serve(pay, { script: slow() });
    const { runId } = await start(server);
    expect(await sendMessage(server, `${runId}/cancel`, { reason: "Enough" }, "k")).toEqual(ok);
    await waitForState(server, runId, "ended");
    expect((await readFacts(server, runId)).at(-1)).toMatchObject({ type: "done", status: "cancelled" });
    expect(await sendMessage(server, `${runId}/cancel`, { reason: "Enough" }, "k")).toEqual(ok);
    expect(await sendMessage(server, `${runId}/steer`, { text: "Go on" })).toEqual({
      status: 409,
      code: "run_ended",
    });
  });

  it("gets a message once; the same key with other text is refused (F84)", async () => {
    const server = serve(pay);
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    expect(await sendMessage(server, `${runId}/steer`, { text: "Cheaper" }, "k")).toEqual(ok);
    const steered = async () => (await readFacts(server, runId)).filter(({ type }) => type === "steered");
    while ((await steered()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await sendMessage(server, `${runId}/steer`, { text: "Cheaper" }, "k")).toEqual(ok);
    expect(await sendMessage(server, `${runId}/steer`, { text: "Dearer" }, "k")).toEqual({
      status: 409,
      code: "idempotency_conflict",
    });
    expect(await sendMessage(server, `${runId}/steer`, { text: "Cheaper" }, "other")).toEqual(ok);
    while ((await steered()).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await steered()).toHaveLength(2);
  });
});

describe("background work", () => {
  const sign = defineTool({
    ...{ name: "sign", description: "Signs", input: { type: "object" }, needsApproval: true },
    execute: () => "signed",
  });
  const clerk = defineAgent({ name: "clerk", model: scriptedModel(createCallScript(sign)), tools: [sign] });
  const script: Script = ({ history }) =>
    history.length === 1
      ? { calls: [{ id: "c1", name: "clerk", input: { prompt: "Sign." } }] }
      : { text: `I have read ${history.filter((entry) => entry.type === "user").length} messages.` };

  it("asks for approval through its parent", async () => {
    const store = sqlite(":memory:");
    const server = serve(agentTool(clerk, { background: true }), { store, script });
    const { runId } = await start(server);
    const { pending } = await waitForState(server, runId, "waiting");
    expect(pending).toMatchObject([{ name: "sign", needs: "approval", agent: "clerk" }]);
    const [{ callId } = { callId: "" }] = pending;
    expect(
      (await server.send("POST", `/api/runs/${runId}/approvals/${callId}`, { approved: true })).status,
    ).toBe(202);
    const ended = await waitForState(server, runId, "ended");
    expect(ended).toMatchObject({ result: { status: "done", text: "I have read 2 messages." } });
  });

  it("is cancelled alone, once, and the run goes on", async () => {
    const server = serve(agentTool(clerk, { background: true }), { script });
    const { runId } = await start(server);
    await waitForState(server, runId, "waiting");
    const cancel = (callId: string) =>
      server.send("POST", `/api/runs/${runId}/background/${callId}/cancel`, { reason: "Too late." });
    const unknown = await cancel("c9");
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: "unknown_call" } }]);
    expect((await cancel("c1")).status).toBe(202);
    const ended = await waitForState(server, runId, "ended");
    expect(ended).toMatchObject({ result: { status: "done", text: "I have read 2 messages." } });
    expect((await cancel("c1")).status).toBeLessThan(500);
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../base/json.ts";
import { reduceAll } from "../../client/reduce.ts";
import { emptyView } from "../../client/session-view.ts";
import { local } from "../../engines/local.ts";
import { defineAgent } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { resume, run } from "../../runtime/run.ts";
import { session } from "../../sessions/session.ts";
import { sessions } from "../../sessions/sessions.ts";
import { memory } from "../../stores/memory.ts";
import { fakeClock, type ScriptedStep, scriptedModel } from "../../testing/index.ts";
import { agentTool } from "../nested/agent-tool.ts";

const letter = { to: "ann", text: "Hello" };

function createMailer(options: { readonly cacheMs?: number; readonly isResumed?: true } = {}) {
  const sent: Json[] = [];
  const send = defineTool({
    name: "send",
    description: "Sends a letter",
    input: z.object({ to: z.string(), text: z.string() }),
    effects: "send",
    needsApproval: true,
    ...(options.cacheMs !== undefined && { cacheMs: options.cacheMs }),
    execute(input) {
      sent.push(input);
      return `Sent to ${input.to}`;
    },
  });
  const steps: ScriptedStep[] = [{ calls: [{ id: "c1", name: "send", input: letter }] }, { text: "Done." }];
  const model = scriptedModel(options.isResumed ? steps.slice(1) : steps);
  return { agent: defineAgent({ name: "mailer", model, tools: [send] }), model, sent };
}

const open = () => ({ store: memory(), session: "s", runId: "r", clock: fakeClock() });

describe("an approval with other arguments", () => {
  it("makes the call with them, records them, and tells the model what the user changed", async () => {
    const { agent, model, sent } = createMailer();
    const options = open();
    const handle = run(agent, "Write to Ann", options);
    await handle;
    const result = await handle.approveWith("c1", { ...letter, to: "bob" });
    expect(sent).toEqual([{ ...letter, to: "bob" }]);
    expect(result).toMatchObject({ status: "done", toolCalls: [{ input: { to: "bob" }, status: "ok" }] });
    const answer = model.requests.at(-1)?.history.at(-1);
    expect(answer).toMatchObject({
      type: "result",
      content:
        'The user changed the arguments before approving: to: "bob". This is the result of the call with these arguments.\n\nSent to bob',
    });
    // The model's own message stays as it wrote it: providers compare it with what they signed.
    expect(model.requests.at(-1)?.history.at(-2)).toMatchObject({ parts: [{ input: letter }] });
    const facts = await options.store.read("s");
    expect(facts.find(({ type }) => type === "approval_resolved")).toMatchObject({
      input: { ...letter, to: "bob" },
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(facts.find(({ type }) => type === "tool_call_start")).toMatchObject({ arguments: { to: "bob" } });
    expect(facts.find(({ type }) => type === "tool_call_result")).toMatchObject({ result: "Sent to bob" });
    expect(
      reduceAll(emptyView, facts).entries.flatMap((entry) => ("calls" in entry ? entry.calls : [])),
    ).toMatchObject([{ input: { to: "bob" }, isEdited: true, state: "ok" }]);
  });

  it("is a plain approval if nothing was changed", async () => {
    const { agent, model, sent } = createMailer();
    const options = open();
    const handle = run(agent, "Write to Ann", options);
    await handle;
    await handle.approveWith("c1", { text: "Hello", to: "ann" });
    expect(sent).toEqual([letter]);
    expect(model.requests.at(-1)?.history.at(-1)).toMatchObject({ content: "Sent to ann" });
    expect(
      (await options.store.read("s")).find(({ type }) => type === "approval_resolved"),
    ).not.toHaveProperty("input");
  });

  it.each<[string, Json, string]>([
    ["a missing field", { to: "bob" }, "text"],
    ["a wrong type", { to: 7, text: "Hello" }, "to"],
    ["no object", ["bob"], "must be an object"],
  ])("is refused with %s, and the call keeps waiting", async (_, input, problem) => {
    const { agent, sent } = createMailer();
    const handle = run(agent, "Write to Ann", open());
    await handle;
    await expect(handle.approveWith("c1", input)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(problem),
    });
    expect(sent).toEqual([]);
    expect(await handle.approve("c1")).toMatchObject({ status: "done" });
    expect(sent).toEqual([letter]);
  });

  it("conflicts with an approval of other arguments, and not with the same one", async () => {
    const { agent, sent } = createMailer();
    const handle = run(agent, "Write to Ann", open());
    await handle;
    handle.approveWith("c1", { ...letter, to: "bob" });
    expect(() => handle.approve("c1")).toThrow(/already been approved/);
    handle.approveWith("c1", { ...letter, to: "bob" });
    await handle;
    expect(sent).toHaveLength(1);
  });

  it("answers no question: only the arguments of a call that has not started can change", async () => {
    const ask = defineTool({
      name: "ask",
      description: "Asks",
      input: z.object({}),
      execute: (_, { answers }) => (answers.length > 0 ? "answered" : { ask: { message: "Which color?" } }),
    });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "ask", input: {} }] }, { text: "Done." }]);
    const handle = run(defineAgent({ name: "asker", model, tools: [ask] }), "Go", open());
    const { pending } = await handle;
    if (pending[0]?.question) expect(() => handle.approveWith("c1", {})).toThrow(/cannot be changed/);
    else expect.unreachable("the tool did not ask");
  });

  it("survives a crash between the approval and the call", async () => {
    const { agent, model } = createMailer();
    const options = open();
    const first = run(agent, "Write to Ann", options);
    await first;
    await first.approveWith("c1", { ...letter, to: "bob" });
    const facts = await options.store.read("s");
    const approved = facts.slice(0, facts.findIndex(({ type }) => type === "approval_resolved") + 1);
    const successor = createMailer({ isResumed: true });
    const result = await resume(successor.agent, approved, { clock: fakeClock() });
    expect(successor.sent).toEqual([{ ...letter, to: "bob" }]);
    expect(result.status).toBe("done");
    expect(successor.model.requests.at(-1)?.history.slice(0, 3)).toEqual(
      model.requests.at(-1)?.history.slice(0, 3),
    );
  });

  it("is bound to the definition of the tool, as any approval", async () => {
    const { agent } = createMailer();
    const options = open();
    const first = run(agent, "Write to Ann", options);
    await first;
    await first.approveWith("c1", { ...letter, to: "bob" });
    const facts = await options.store.read("s");
    const at = facts.findIndex(({ type }) => type === "approval_resolved");
    for (const change of [
      { input: { ...letter, to: "eve" } },
      { digest: "0".repeat(64) },
      { digest: undefined },
    ]) {
      const forged = facts
        .slice(0, at + 1)
        .map((fact, index) => (index === at ? { ...fact, ...change } : fact));
      const successor = createMailer({ isResumed: true });
      const result = await resume(successor.agent, forged as typeof facts, { clock: fakeClock() });
      expect(successor.sent).toEqual([]);
      expect(result.toolCalls).toMatchObject([{ status: "denied" }]);
    }
  });

  it("caches its result for its own arguments, not for the model's", async () => {
    const { agent, sent } = createMailer({ cacheMs: 60_000 });
    const { store, clock } = open();
    const first = run(agent, "Write to Ann", { store, clock, session: "s" });
    await first;
    await first.approveWith("c1", { ...letter, to: "bob" });
    const again = { ...agent, models: { ...agent.models, main: createMailer().agent.models.main } };
    const second = run({ ...again, models: { ...again.models, afterTools: again.models.main } }, "Again", {
      store,
      clock,
      session: "s",
    });
    await second;
    await second.approve("c1~2");
    expect(sent).toEqual([{ ...letter, to: "bob" }, letter]);
  });

  it("reaches the call of a nested run, and goes through the store of an engine", async () => {
    const { agent: mailer, sent } = createMailer();
    const model = scriptedModel([
      { calls: [{ name: "mailer", input: { prompt: "Write" } }] },
      { text: "Done." },
    ]);
    const agent = defineAgent({ name: "boss", model, tools: [agentTool(mailer)] });
    const store = memory();
    const engine = local({ store, agents: [agent] });
    const { pending } = await engine.run(agent, "Go", { session: "s", runId: "r" });
    const handle = engine.open("r");
    expect(await handle.approveWith(pending[0]?.callId ?? "", { ...letter, to: "bob" })).toMatchObject({
      status: "done",
    });
    expect(sent).toEqual([{ ...letter, to: "bob" }]);
    await engine.close();
  });

  it("masks a secret in the new arguments like everywhere, and the call still runs", async () => {
    const { agent, sent } = createMailer();
    const options = { ...open(), secrets: ["sesame-open"] };
    const handle = run(agent, "Write to Ann", options);
    await handle;
    await handle.approveWith("c1", { ...letter, text: "It is sesame-open" });
    expect(sent).toEqual([{ ...letter, text: "It is ***" }]);
    expect(JSON.stringify(await options.store.read("s"))).not.toContain("sesame-open");
  });

  it("is history in a fork and in an import, and grants nothing there (A87)", async () => {
    const { agent } = createMailer();
    const options = open();
    const handle = run(agent, "Write to Ann", options);
    await handle;
    await handle.approveWith("c1", { ...letter, to: "bob" });
    const facts = await options.store.read("s");
    const seq = facts.find(({ type }) => type === "approval_resolved")?.seq ?? 0;
    const fork = await session(options.store, "s").fork(seq);
    const [start] = await fork.facts();
    const successor = createMailer({ isResumed: true });
    await resume(
      successor.agent,
      { store: options.store, runId: start?.runId ?? "" },
      { clock: fakeClock() },
    );
    expect(successor.sent).toEqual([]);
    const whole = await session(options.store, "s").fork(facts.length);
    expect(await whole.history()).toEqual(await session(options.store, "s").history());
    const other = memory();
    const imported = await sessions(other).import(await session(options.store, "s").export("json"));
    const copied = (await other.read(imported.id)).find(({ type }) => type === "approval_resolved");
    expect(copied).toMatchObject({ input: { to: "bob" } });
    expect(copied).not.toHaveProperty("digest");
  });
});

it("the note lists removed fields, and cuts long values", async () => {
  const { formatArgumentChanges } = await import("./edit-call.ts");
  expect(formatArgumentChanges({ a: 1, b: { c: 2 } }, { b: { c: 3 } })).toBe('a: removed; b: {"c":3}');
  expect(formatArgumentChanges({ a: "" }, { a: "x".repeat(5_000) })).toHaveLength(2_004);
});

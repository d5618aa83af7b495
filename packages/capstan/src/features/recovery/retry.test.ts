import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { buildView } from "../../client/reduce.ts";
import { local } from "../../engines/local.ts";
import { defineAgent } from "../../kernel/agent.ts";
import type { Event, Fact } from "../../kernel/event.ts";
import { defineTool } from "../../kernel/tool.ts";
import { compatible } from "../../models/compatible.ts";
import { fold } from "../../runtime/facts.ts";
import { resume, run } from "../../runtime/run.ts";
import type { Store } from "../../runtime/store.ts";
import { importSession } from "../../sessions/import-session.ts";
import { session } from "../../sessions/session.ts";
import { subscribe } from "../../sessions/subscribe.ts";
import { summarizeRun } from "../../sessions/summary.ts";
import { memory } from "../../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const denied: ScriptedStep = { text: "half an ans", error: "model_auth" };
const book: ScriptedStep = { calls: [{ id: "c1", name: "book", input: {} }] };

function createBooking(...steps: readonly ScriptedStep[]) {
  const bookings: string[] = [];
  const tool = defineTool({
    name: "book",
    description: "books",
    input: z.object({}),
    effects: "state",
    execute: () => `booked ${bookings.push("x")}`,
  });
  const model = scriptedModel(steps);
  return { agent: defineAgent({ name: "desk", model, tools: [tool] }), model, bookings };
}

const readFacts = (store: Store) => store.read("s");
const listTypes = (facts: readonly Event[]) => facts.map(({ type }) => type);

describe("retry", () => {
  it("continues a run from the model call that failed; completed calls are not repeated", async () => {
    const store = memory();
    const { agent, model, bookings } = createBooking(book, denied, { text: "booked for you" });
    const handle = run(agent, "book", { store, session: "s", runId: "r" });
    expect(await handle).toMatchObject({ status: "failed", canRetry: true, error: { code: "model_auth" } });
    expect(await handle.retry()).toMatchObject({
      status: "done",
      text: "booked for you",
      runId: "r",
      turns: 2,
    });
    expect(bookings).toHaveLength(1);
    expect(model.requests[2]?.history).toEqual(model.requests[1]?.history);
    const facts = await readFacts(store);
    expect(listTypes(facts)).toEqual([
      ...["run_start", "turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"],
      ...["turn_start", "model_failed", "turn_end", "error", "done"],
      ...["retried", "message", "turn_end", "done"],
    ]);
    expect(new Set(facts.map(({ id, type }) => `${type} ${id}`)).size).toBe(facts.length);
    expect(summarizeRun(facts)).toMatchObject({ status: "done", turns: 2 });
    expect(buildView(facts)).toMatchObject({ status: "done", stage: "complete" });
    expect(buildView(facts).error).toBeUndefined();
  });

  it("can fail and be retried again", async () => {
    const { agent } = createBooking(denied, denied, { text: "at last" });
    const handle = run(agent, "hi", { store: memory(), session: "s" });
    await handle;
    expect(await handle.retry()).toMatchObject({ status: "failed" });
    expect(await handle.retry()).toMatchObject({ status: "done", text: "at last" });
  });

  it("refuses a run that has not ended, or that did not fail because of its model", async () => {
    const { agent } = createBooking({ text: "fine" });
    const handle = run(agent, "hi", { store: memory(), session: "s" });
    expect(await handle).toMatchObject({ status: "done" });
    expect(() => handle.retry()).toThrow(expect.objectContaining({ code: "not_retryable" }));
    const limited = run(createBooking(book, book).agent, "hi", {
      store: memory(),
      policy: { maxTurns: 1, finalTurn: "keep-tools", onLimit: ["fail"] },
    });
    expect(await limited).toMatchObject({ status: "failed", error: { code: "max_turns" } });
    expect(() => limited.retry()).toThrow(expect.objectContaining({ code: "not_retryable" }));
  });

  it("refuses a run that is not the newest of its session", async () => {
    const store = memory();
    const { agent } = createBooking(denied, { text: "second run" });
    const handle = run(agent, "hi", { store, session: "s" });
    await handle;
    await run(agent, "again", { store, session: "s" });
    await expect(handle.retry()).rejects.toMatchObject({ code: "not_retryable" });
    expect(listTypes(await readFacts(store)).filter((type) => type === "retried")).toEqual([]);
  });

  it("holds the session: a second run has to wait for the retried one", async () => {
    const store = memory();
    const { agent } = createBooking(denied, { hang: true });
    const handle = run(agent, "hi", { store, session: "s" });
    await handle;
    handle.retry();
    const policy = { onBusy: "reject" } as const;
    await expect(run(agent, "again", { store, session: "s", policy })).rejects.toMatchObject({
      code: "session_busy",
    });
    expect(await handle.cancel()).toMatchObject({ status: "cancelled" });
  });

  it("gives the answer of a handoff target to the agent that waits for it", async () => {
    const store = memory();
    const clerk = defineAgent({
      name: "clerk",
      model: scriptedModel([denied, { text: "the clerk's answer" }]),
    });
    const model = scriptedModel([
      { calls: [{ id: "h", name: "handoff", input: { agent: "clerk" } }] },
      { text: "summed up" },
    ]);
    const desk = defineAgent({ name: "desk", model, handoffs: [clerk] });
    const handle = run(desk, "hi", { store, session: "s" });
    expect(await handle).toMatchObject({ status: "failed", agent: "clerk" });
    expect(await handle.retry()).toMatchObject({ status: "done", text: "summed up", agent: "desk" });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ type: "result", callId: "h", status: "ok" });
    expect(JSON.stringify(model.requests[1]?.history)).toContain("the clerk's answer");
    const { run: folded } = fold("s", await readFacts(store));
    expect(folded?.toolCalls.map(({ id, status }) => [id, status])).toEqual([["h", "ok"]]);
  });

  it("releases a quarantined run: the model learns that its call was interrupted", async () => {
    const store = memory();
    const { agent, bookings } = createBooking({ text: "released" });
    const start = run(createBooking(book).agent, "book", { store: memory(), session: "s", runId: "r" });
    const facts: Fact[] = [];
    for await (const event of start) {
      if ("seq" in event) facts.push(event);
      if (event.type === "tool_call_start") break;
    }
    const origin = { runId: "r", sessionId: "s", agent: "desk", turn: 1, at: 0 };
    for (let count = 1; count <= 4; count++) {
      const seq = facts.length + 1;
      facts.push({ type: "recovered", owner: "p", alone: true, ...origin, seq, id: `recovered/${seq}` });
    }
    const lease = await store.lease("s", "seed", 1000);
    if (!lease) throw new Error("The lease is taken.");
    await store.append(facts, { expected: 0, lease });
    await store.release(lease);
    const handle = resume(agent, { store, runId: "r" });
    expect(await handle).toMatchObject({ status: "failed", canRetry: true, error: { code: "quarantined" } });
    expect(await handle.retry()).toMatchObject({ status: "done", text: "released" });
    expect(bookings).toEqual([]);
  });

  it("reaches a stored run through any engine, once per key", async () => {
    const store = memory();
    const { agent, bookings } = createBooking(book, denied, { text: "booked for you" });
    const engine = local({ store, agents: agent });
    await engine.run(agent, "book", { session: "s", runId: "r" });
    await expect(engine.send("r", { type: "steer", text: "hurry", key: "k0" })).rejects.toMatchObject({
      code: "run_ended",
    });
    expect(await engine.checkMessage("r", { type: "retry", key: "k1" })).toEqual({ isNew: true });
    await engine.send("r", { type: "retry", key: "k1" });
    expect(await engine.open("r")).toMatchObject({ status: "done", text: "booked for you" });
    await engine.send("r", { type: "retry", key: "k1" });
    await expect(engine.send("r", { type: "retry", key: "k2" })).rejects.toMatchObject({
      code: "not_retryable",
    });
    expect(bookings).toHaveLength(1);
    expect(listTypes(await readFacts(store)).filter((type) => type === "retried")).toHaveLength(1);
    await engine.close();
  });

  it("is taken over by another process when the sender stops after storing the message", async () => {
    const store = memory();
    const { agent } = createBooking(denied, { text: "taken over" });
    await run(agent, "hi", { store, session: "s", runId: "r" });
    await store.sendMessage("r", { type: "retry", key: "k" });
    const engine = local({ store, agents: agent });
    await expect.poll(() => engine.getResult("r"), { timeout: 30_000 }).toMatchObject({ text: "taken over" });
    await engine.close();
  });

  it("is void if a new run starts before it is delivered", async () => {
    const store = memory();
    const { agent, model } = createBooking(denied, { text: "second run" });
    await run(agent, "hi", { store, session: "s", runId: "r" });
    await store.sendMessage("r", { type: "retry", key: "k" });
    await run(agent, "again", { store, session: "s" });
    const engine = local({ store, agents: agent });
    expect(await engine.recover()).toEqual([]);
    expect(await store.listOrphans()).toEqual([]);
    expect(model.requests).toHaveLength(2);
    await engine.close();
  });

  it("does not end a subscription at the first of two ends, however small its buffer", async () => {
    const store = memory();
    const { agent } = createBooking(denied, { text: "second attempt" });
    const handle = run(agent, "hi", { store, session: "s", runId: "r" });
    await handle;
    await handle.retry();
    const types: string[] = [];
    for await (const event of subscribe(store, { runId: "r" }, { maxBuffered: 1 })) types.push(event.type);
    expect(types.filter((type) => type === "done")).toHaveLength(2);
    expect(types.at(-1)).toBe("done");
  });

  it("survives an export and an import, with approvals required again", async () => {
    const store = memory();
    const { agent } = createBooking(denied, { text: "second attempt" });
    const policy = { approvals: "allow" as const };
    const handle = run(agent, "hi", { store, session: "s", runId: "r", policy });
    await handle;
    const serialize = () => session(store, "s").export("json");
    const failed = await serialize();
    await handle.retry();
    const target = memory();
    await importSession(target, await serialize());
    expect(listTypes(await readFacts(target))).toContain("retried");
    const other = memory();
    await importSession(other, failed);
    expect((await readFacts(other))[0]).toMatchObject({ policy: { approvals: "ask" } });
  });
});

describe("a provider that asks to wait for a day", () => {
  it("gets one request, and the run fails with the time; a retry asks again (F104)", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(429, { "retry-after": "86400" }).end('{"error":{"message":"Slow down."}}');
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    const model = compatible({ baseURL: `http://127.0.0.1:${port}/v1`, model: "m" });
    const handle = run(defineAgent({ name: "a", model }), "Go.");
    const { status, error, canRetry } = await handle;
    expect([requests, status, canRetry]).toEqual([1, "failed", true]);
    expect(error).toMatchObject({ code: "model_rate_limited", retryAfterMs: 86_400_000 });
    expect(error?.message).toMatch(
      /Slow down\..* The provider asks to wait until \d{4}-.*Z\. Retry the run then\.$/,
    );
    await handle.retry();
    expect(requests).toBe(2);
    server.close();
  });
});

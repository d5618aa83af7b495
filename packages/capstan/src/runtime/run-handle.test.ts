import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { sleep } from "../base/clock.ts";
import type { AgentError } from "../base/errors.ts";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { type ResultEntry, toPlainText } from "../kernel/history.ts";
import { defineTool, type Effects, type Tool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import {
  type Script,
  type ScriptedCall,
  type ScriptedStep,
  scriptedModel,
} from "../testing/scripted-model.ts";
import type { Result } from "./result.ts";
import { resume, run } from "./run.ts";
import type { Run } from "./run-handle.ts";
import type { Store } from "./store.ts";

const mapToTypes = (events: readonly Event[]) => events.map((event) => event.type);
const factTypes = ["run_start", "turn_start", "message", "turn_end", "done"];

/** An agent that makes these calls and then answers "Done."; `sent` records the calls of `send`, which needs approval. */
function createMailer(calls: readonly ScriptedCall[], more: readonly Tool[] = []) {
  const sent: unknown[] = [];
  const send = defineTool({
    name: "send",
    description: "Sends a mail",
    input: { type: "object", properties: { to: { type: "string" } } },
    needsApproval: ({ to }) => (to === "self" ? false : `A mail to ${to}`),
    execute({ to }) {
      sent.push(to);
      return `sent to ${to}`;
    },
  });
  const model = scriptedModel(({ history }) =>
    history.some((entry) => entry.type === "result") ? { text: "Done." } : { calls },
  );
  return { sent, model, agent: defineAgent({ name: "mailer", model, tools: [send, ...more] }) };
}

const toBob: ScriptedCall = { id: "c1", name: "send", input: { to: "Bob" } };
const toEve: ScriptedCall = { id: "c2", name: "send", input: { to: "Eve" } };

const createAnsweringAgent = (...steps: ScriptedStep[]) =>
  defineAgent({ name: "a", model: scriptedModel(steps) });

const listToolResults = (result: Result) =>
  result.history.filter((entry): entry is ResultEntry => entry.type === "result");

describe("awaiting and iterating", () => {
  it("starts at once, before it is awaited or iterated", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const begun = run(defineAgent({ name: "a", model }), "Hi");
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(model.requests).toHaveLength(1);
    expect((await begun).text).toBe("Hello.");
  });

  it("can be awaited again and again for the same result", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    expect(await started).toBe(await started);
  });

  it("can be iterated and awaited at once, by several readers", async () => {
    const started = run(createAnsweringAgent({ text: "Hello.", split: 2 }), "Hi");
    const [one, two, result] = await Promise.all([collect(started), collect(started), started]);
    expect(mapToTypes(one.events)).toEqual([
      ...["run_start", "turn_start"],
      ...["content_delta", "content_delta", "content_delta"],
      ...["message", "turn_end", "done"],
    ]);
    expect(two.events).toEqual(one.events);
    expect(one.result).toBe(result);
  });

  it("a late reader gets every fact it missed", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    await started;
    expect(mapToTypes((await collect(started)).events)).toEqual(factTypes);
    expect(mapToTypes((await collect(started)).events)).toEqual(factTypes);
  });

  it("breaking out of the iteration does not stop the run", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    for await (const event of started) if (event.type === "turn_start") break;
    expect(await started).toMatchObject({ status: "done", text: "Hello." });
  });

  it("breaking out of the iteration does not block a run that suspends", async () => {
    const started = run(createMailer([toBob]).agent, "Go");
    for await (const event of started) if (event.type === "turn_start") break;
    expect((await started).status).toBe("waiting");
  });

  it.each([
    "run_start",
    "approval_required",
  ])("awaited inside its own iteration at %s, it resolves when it waits, and the iteration ends", async (type) => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    const results: Result[] = [];
    const types: string[] = [];
    for await (const event of started) {
      if (isFact(event)) types.push(event.type);
      if (event.type === type) results.push(await started);
    }
    expect(results).toMatchObject([{ status: "waiting", pending: [{ callId: "c1" }] }]);
    expect(types).toEqual(["run_start", "turn_start", "message", "approval_required", "waiting"]);
    expect(await started.approve("c1")).toMatchObject({ status: "done", text: "Done." });
    expect(sent).toEqual(["Bob"]);
  });

  it("awaited inside its own iteration, it resolves when it ends", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    const results: Result[] = [];
    for await (const event of started) if (event.type === "turn_start") results.push(await started);
    expect(results).toMatchObject([{ status: "done", text: "Hello." }]);
  });

  it("awaited before its iteration answers, it resolves with the end", async () => {
    const started = run(createMailer([toBob]).agent, "Go");
    const result = started.then(({ status }) => status);
    for await (const event of started) {
      if (event.type !== "approval_required") continue;
      await new Promise((resolve) => setTimeout(resolve, 5)); // the user decides
      started.approve(event.callId);
    }
    expect(await result).toBe("done");
  });

  it("an error in the loop body propagates and does not stop the run", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    const reading = (async () => {
      for await (const event of started) throw new Error(`no use for ${event.type}`);
    })();
    await expect(reading).rejects.toThrow("no use for run_start");
    expect((await started).status).toBe("done");
  });

  it("iterated while waiting, it yields the facts so far; after the answer, the later ones", async () => {
    const started = run(createMailer([toBob]).agent, "Go");
    await started;
    const before = await collect(started);
    expect(mapToTypes(before.events)).toEqual([
      ...["run_start", "turn_start", "message", "approval_required", "waiting"],
    ]);
    const after = await collect(started.approve("c1"));
    expect(mapToTypes(after.facts)).toEqual([
      ...["approval_resolved", "tool_call_start", "tool_call_result", "turn_end"],
      ...["turn_start", "message", "turn_end", "done"],
    ]);
    expect([...before.facts, ...after.facts].map((fact) => fact.seq)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  it("the status can be observed while it changes (S2-62)", async () => {
    const seen: string[] = [];
    const started = run(createAnsweringAgent({ text: "Hello.", split: 3 }), "Hi", {
      hooks: { onEvent: (event) => seen.push(event.type) },
    });
    expect(seen).toEqual([]);
    const { events } = await collect(started);
    expect(seen).toEqual(mapToTypes(events));
  });
});

describe("cancel", () => {
  it("during a model call: keeps the partial text and ends as cancelled", async () => {
    const started = run(createAnsweringAgent({ text: "Half an answer", hang: true }), "Hi");
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type === "content_delta") expect(started.cancel("Enough.")).toBe(started);
    }
    expect(await started).toMatchObject({
      status: "cancelled",
      text: "Half an answer",
      error: { code: "cancelled", message: "Enough." },
    });
    expect(mapToTypes(events)).toEqual([
      ...["run_start", "turn_start", "content_delta"],
      ...["message", "warning", "cancel_requested", "turn_end", "done"],
    ]);
    expect(events.find((event) => event.type === "message")).toMatchObject({ stopReason: "aborted" });
  });

  it("while tools run: they get the signal, and every call gets its one result (S2-54)", async () => {
    const aborted: unknown[] = [];
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const obedient = defineTool({
      name: "obedient",
      description: "Stops when told",
      input: { type: "object" },
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          begun[0].resolve();
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason);
            reject(signal.reason);
          });
        }),
    });
    const deaf = defineTool({
      name: "deaf",
      description: "Never stops",
      input: { type: "object" },
      execute() {
        begun[1].resolve();
        return new Promise(() => undefined);
      },
    });
    const model = scriptedModel([{ calls: [{ name: "obedient" }, { name: "deaf" }] }]);
    const started = run(defineAgent({ name: "a", model, tools: [obedient, deaf] }), "Go");
    await Promise.all(begun.map(({ promise }) => promise));
    void started.cancel();
    const result = await started;
    expect(result.status).toBe("cancelled");
    expect(result.text).toBe("The run was stopped before it had an answer.");
    expect(listToolResults(result).map(({ name, status }) => [name, status])).toEqual([
      ["obedient", "interrupted"],
      ["deaf", "interrupted"],
    ]);
    expect(aborted).toMatchObject([{ code: "cancelled" }]);
  });

  it("calls that had not started are skipped, not interrupted", async () => {
    const slow = defineTool({
      name: "slow",
      description: "Takes for ever",
      input: { type: "object" },
      effects: "state",
      execute: () => new Promise(() => undefined),
    });
    const model = scriptedModel([{ calls: [{ name: "slow" }, { name: "slow" }] }]);
    const started = run(defineAgent({ name: "a", model, tools: [slow] }), "Go");
    for await (const event of started) if (event.type === "tool_call_start") void started.cancel();
    expect(listToolResults(await started).map((entry) => entry.status)).toEqual(["interrupted", "skipped"]);
  });

  it("calls that wait for their turn to run in parallel never start (S2-54)", async () => {
    const executed: number[] = [];
    const endless = defineTool({
      name: "endless",
      description: "Runs until it is stopped",
      input: { type: "object", properties: { n: { type: "number" } } },
      effects: "none",
      execute({ n }: { n: number }, { signal }) {
        executed.push(n);
        void started.cancel();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const model = scriptedModel([{ calls: [1, 2].map((n) => ({ name: "endless", input: { n } })) }]);
    const agent = defineAgent({ name: "a", model, tools: [endless], policy: { maxConcurrency: 1 } });
    const started = run(agent, "Go");
    const startedCalls: unknown[] = [];
    for await (const event of started)
      if (event.type === "tool_call_start") startedCalls.push(event.arguments);
    expect(startedCalls).toEqual([{ n: 1 }]);
    expect(executed).toEqual([1]);
    expect(listToolResults(await started).map(({ status }) => status)).toEqual(["interrupted", "skipped"]);
  });

  it("while it waits for approval: ends it, and the call is never made", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    expect((await started).status).toBe("waiting");
    const result = await started.cancel();
    expect(result).toMatchObject({ status: "cancelled", pending: [] });
    expect(listToolResults(result)).toMatchObject([{ callId: "c1", status: "skipped" }]);
    expect(sent).toEqual([]);
  });

  it("during a retry delay: does not wait for the retry", async () => {
    const model = scriptedModel(() => ({ error: "model_failed" }));
    const started = run(defineAgent({ name: "a", model }), "Hi", { clock: fakeClock() });
    for await (const event of started) if (event.type === "retry") void started.cancel();
    expect((await started).status).toBe("cancelled");
    expect(model.requests).toHaveLength(1);
  });

  it("right away: no model is called", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const result = await run(defineAgent({ name: "a", model }), "Hi").cancel("Never mind.");
    expect(result).toMatchObject({ status: "cancelled", error: { message: "Never mind." } });
    expect(model.requests).toHaveLength(0);
  });

  it("twice or after the end changes nothing", async () => {
    const store = memory();
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi", { session: "s", store });
    const result = await started;
    expect(await started.cancel()).toBe(result);
    expect(mapToTypes(await store.read("s"))).toEqual(factTypes);
    const cancelled = run(createAnsweringAgent({ text: "x", hang: true }), "Hi", { session: "t", store });
    const { facts } = await collect(cancelled.cancel("first").cancel("second"));
    expect(facts.filter((fact) => fact.type === "cancel_requested")).toMatchObject([{ reason: "first" }]);
  });

  it("a session continues after a cancelled run", async () => {
    const options = { session: "s", store: memory() };
    await run(createAnsweringAgent({ text: "x", hang: true }), "One?", options).cancel();
    expect(await run(createAnsweringAgent({ text: "Two." }), "Two?", options)).toMatchObject({
      status: "done",
      text: "Two.",
    });
  });
});

describe("steer", () => {
  it("during a turn: the model gets it with its next turn, after the results", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      execute: () => "seen",
    });
    const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "In French: vu." }]);
    const started = run(defineAgent({ name: "a", model, tools: [look] }), "Go");
    for await (const event of started) if (event.type === "tool_call_start") void started.steer("In French.");
    expect(model.requests[1]?.history.map((entry) => entry.type)).toEqual([
      "user",
      "assistant",
      "result",
      "user",
    ]);
    expect(model.requests[1]?.history.at(-1)).toEqual({ type: "user", content: "In French." });
    expect((await started).text).toBe("In French: vu.");
  });

  it("during the last answer: the run does not end before it has answered the message too", async () => {
    const model = scriptedModel([{ text: "It is cold." }, { text: "Bring a coat." }]);
    const started = run(defineAgent({ name: "a", model }), "Weather?");
    for await (const event of started) {
      if (event.type === "content_delta" && event.turn === 1) void started.steer("What to wear?");
    }
    const result = await started;
    expect(result).toMatchObject({ status: "done", text: "Bring a coat.", turns: 2 });
    expect(result.history.map((entry) => (entry.type === "user" ? entry.content : entry.type))).toEqual([
      "Weather?",
      "assistant",
      "What to wear?",
      "assistant",
    ]);
  });

  it("on the very last turn: is kept for the next run of the session", async () => {
    const model = scriptedModel([{ text: "One." }, { text: "Two." }]);
    const agent = defineAgent({ name: "a", model, policy: { maxTurns: 1 } });
    const options = { session: "s", store: memory() };
    const started = run(agent, "One?", options);
    for await (const event of started) if (event.type === "content_delta") void started.steer("And two?");
    expect((await started).status).toBe("done");
    await run(agent, "Go on.", options);
    expect(
      model.requests[1]?.history.flatMap((entry) => (entry.type === "user" ? [entry.content] : [])),
    ).toEqual(["One?", "And two?", "Go on."]);
  });

  it("while it waits: does not count as an answer, and is delivered when the run continues", async () => {
    const { agent, model } = createMailer([toBob]);
    const started = run(agent, "Go");
    await started;
    expect((await started.steer("Be polite.")).status).toBe("waiting");
    expect((await started.approve("c1")).status).toBe("done");
    expect(model.requests[1]?.history.at(-1)).toEqual({ type: "user", content: "Be polite." });
  });

  it("after the end: throws at the caller", async () => {
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi");
    await started;
    expect(() => started.steer("More.")).toThrow(expect.objectContaining({ code: "run_ended" }));
  });

  it("at the moment of the end: the run still ends normally, and an accepted message is not lost", async () => {
    const store = memory();
    let started: Run | undefined;
    let refusal: unknown;
    const late: Store = {
      ...store,
      append(facts, at) {
        if (facts.some((fact) => fact.type === "done")) {
          try {
            void started?.steer("One more thing.");
          } catch (thrown) {
            refusal = thrown;
          }
        }
        return store.append(facts, at);
      },
    };
    started = run(createAnsweringAgent({ text: "Hello." }, { text: "Bye." }), "Hi", {
      session: "s",
      store: late,
    });
    expect((await started).status).toBe("done");
    const isStored = (await store.read("s")).some((fact) => fact.type === "steered");
    const isRefused = refusal !== undefined;
    expect({ isStored, isRefused }).toEqual({ isStored, isRefused: !isStored });
  });
});

describe("approvals", () => {
  it("inside the iteration: the run continues without waiting", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type === "approval_required") expect(started.approve(event.callId)).toBe(started);
    }
    expect(sent).toEqual(["Bob"]);
    expect((await started).status).toBe("done");
    expect(mapToTypes(events)).not.toContain("waiting");
  });

  it("inside the iteration, after a delay: the run waits for its reader's decision", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type !== "approval_required") continue;
      await new Promise((resolve) => setTimeout(resolve, 3));
      void started.approve(event.callId);
    }
    expect(sent).toEqual(["Bob"]);
    expect(mapToTypes(events)).not.toContain("waiting");
  });

  it("outside the iteration: it ends with `waiting`, lists the pending call, and continues after the decision", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    const { events, result } = await collect(started);
    expect(events.at(-1)).toMatchObject({ type: "waiting", callIds: ["c1"] });
    expect(mapToTypes(events)).not.toContain("done");
    expect(result).toMatchObject({
      status: "waiting",
      text: 'Waiting for your approval of "send" (A mail to Bob).',
      pending: [
        {
          callId: "c1",
          name: "send",
          input: { to: "Bob" },
          needs: "approval",
          reason: "A mail to Bob",
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    });
    expect(sent).toEqual([]);
    expect(await started.approve("c1")).toMatchObject({ status: "done", text: "Done.", pending: [] });
    expect(sent).toEqual(["Bob"]);
  });

  it("denied inside the iteration: the model gets the reason and the tool does not run", async () => {
    const { agent, model, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    for await (const event of started)
      if (event.type === "approval_required") void started.deny(event.callId, "Bob is away.");
    expect(sent).toEqual([]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      status: "denied",
      content: "The call was denied: Bob is away.",
      error: { code: "tool_denied" },
    });
  });

  it("denied outside the iteration, without a reason: the model is told that the user declined", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    await started;
    const result = await started.deny("c1");
    expect(result.status).toBe("done");
    expect(listToolResults(result)).toMatchObject([
      { status: "denied", content: "The call was denied: the user declined." },
    ]);
    expect(sent).toEqual([]);
  });

  it("given by a hook: counts like any other approval", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started: Run = run(agent, "Go", {
      hooks: {
        onEvent(event) {
          if (event.type === "approval_required") void started.approve(event.callId);
        },
      },
    });
    expect((await started).status).toBe("done");
    expect(sent).toEqual(["Bob"]);
  });

  it("given at any moment around the start of the wait: is never lost", async () => {
    for (let ticks = 0; ticks < 80; ticks++) {
      const { agent, sent } = createMailer([toBob]);
      const approved = Promise.withResolvers<void>();
      const started: Run = run(agent, "Go", {
        hooks: {
          async onEvent(event) {
            if (event.type !== "approval_required") return;
            for (let tick = 0; tick < ticks; tick++) await undefined;
            void started.approve("c1");
            approved.resolve();
          },
        },
      });
      await started;
      await approved.promise;
      expect([ticks, (await started).status, sent]).toEqual([ticks, "done", ["Bob"]]);
    }
  });

  it("twice: is one approval, and the tool runs once (F57)", async () => {
    const { agent, sent } = createMailer([toBob]);
    const store = memory();
    const started = run(agent, "Go", { session: "s", store });
    await started;
    expect((await started.approve("c1").approve("c1")).status).toBe("done");
    expect((await started.approve("c1")).status).toBe("done");
    expect(sent).toEqual(["Bob"]);
    expect((await store.read("s")).filter((fact) => fact.type === "approval_resolved")).toHaveLength(1);
  });

  it("approved and then denied: the first counts, and the second is rejected with a reason (F57)", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    await started;
    await started.approve("c1");
    expect(() => started.deny("c1")).toThrow(
      expect.objectContaining({
        code: "approval_conflict",
        message: 'Call "c1" has already been approved.',
      }),
    );
    expect(sent).toEqual(["Bob"]);
  });

  it("approved and denied in the same tick: the second is rejected as well (F57)", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    await started;
    void started.approve("c1");
    expect(() => started.deny("c1")).toThrow(expect.objectContaining({ code: "approval_conflict" }));
    expect((await started).status).toBe("done");
    expect(sent).toEqual(["Bob"]);
  });

  it("for a call that is not pending: is rejected and lists the pending calls (F57)", async () => {
    const { agent, sent } = createMailer([toBob, toEve]);
    const started = run(agent, "Go");
    await started;
    for (const decide of [started.approve, started.deny])
      expect(() => decide("c9")).toThrow(
        expect.objectContaining({
          code: "unknown_call",
          message: 'Call "c9" does not wait for an approval. Calls that do: "c1", "c2".',
        }),
      );
    expect((await started).status).toBe("waiting");
    expect(sent).toEqual([]);
  });

  it("after cancel: nothing is authorized (F57)", async () => {
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go");
    await started;
    expect((await started.cancel().approve("c1")).status).toBe("cancelled");
    expect(() => started.approve("c2")).toThrow(expect.objectContaining({ code: "unknown_call" }));
    expect(sent).toEqual([]);
  });

  it("several at once: all are requested together, decided one by one, and the run continues with each", async () => {
    const { agent, sent } = createMailer([toBob, toEve]);
    const started = run(agent, "Go");
    const { facts, result } = await collect(started);
    expect(facts.flatMap((fact) => (fact.type === "approval_required" ? [fact.callId] : []))).toEqual([
      "c1",
      "c2",
    ]);
    expect(result.text).toBe(
      'Waiting for your approval of "send" (A mail to Bob) and your approval of "send" (A mail to Eve).',
    );
    const half = await started.approve("c2");
    expect(half).toMatchObject({ status: "waiting", pending: [{ callId: "c1" }] });
    expect(sent).toEqual(["Eve"]);
    const whole = await started.deny("c1");
    expect(whole.status).toBe("done");
    expect(listToolResults(whole).map(({ callId, status }) => [callId, status])).toEqual([
      ["c1", "denied"],
      ["c2", "ok"],
    ]);
  });

  it("while sibling tools run: they are not delayed, and the approved call follows", async () => {
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const read = defineTool({
      name: "read",
      description: "Reads",
      input: { type: "object" },
      async execute() {
        await gate.promise;
        order.push("read");
        return "read";
      },
    });
    const { agent, sent } = createMailer([toBob, { id: "c2", name: "read" }], [read]);
    const started = run(agent, "Go");
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type !== "tool_call_start" || event.name !== "read") continue;
      void started.approve("c1");
      gate.resolve();
    }
    const result = await started;
    expect(order).toEqual(["read"]);
    expect(sent).toEqual(["Bob"]);
    expect(mapToTypes(events)).not.toContain("waiting");
    expect(listToolResults(result).map((entry) => entry.callId)).toEqual(["c1", "c2"]);
  });

  it("siblings that need no approval run before the run suspends", async () => {
    const { agent, sent } = createMailer([toBob, { id: "c2", name: "send", input: { to: "self" } }]);
    const result = await run(agent, "Go");
    expect(sent).toEqual(["self"]);
    expect(result).toMatchObject({ status: "waiting", pending: [{ callId: "c1" }] });
    expect(result.history.map((entry) => entry.type)).toEqual(["user"]);
  });

  it("an old approval never authorizes a new call when a provider reuses its ids", async () => {
    const sent: unknown[] = [];
    const send = defineTool({
      name: "send",
      description: "Sends",
      input: { type: "object", properties: { to: { type: "string" } } },
      needsApproval: true,
      execute: ({ to }) => sent.push(to),
    });
    const model = scriptedModel([{ calls: [toBob] }, { calls: [toBob] }, { text: "Done." }]);
    const started = run(defineAgent({ name: "a", model, tools: [send] }), "Go");
    await started;
    const second = await started.approve("c1");
    expect(second).toMatchObject({ status: "waiting", pending: [{ callId: "c1~2" }] });
    expect((await started.approve("c1")).status).toBe("waiting");
    expect(sent).toEqual(["Bob"]);
    expect((await started.deny("c1~2")).status).toBe("done");
    expect(sent).toEqual(["Bob"]);
  });

  it("nor does it authorize one of a later run of the session", async () => {
    const { agent, sent } = createMailer([toBob]);
    const options = { session: "s", store: memory() };
    const first = run(agent, "Go", options);
    await first;
    await first.approve("c1");
    const again = createMailer([]);
    const model = scriptedModel([{ calls: [toBob] }, { text: "Done." }]);
    const later = run(
      defineAgent({ name: "mailer", model, tools: [...agent.tools.values()] }),
      "Again",
      options,
    );
    expect(await later).toMatchObject({ status: "waiting", pending: [{ callId: "c1~2" }] });
    expect(() => later.approve("c1")).toThrow(expect.objectContaining({ code: "unknown_call" }));
    expect([sent, again.sent]).toEqual([["Bob"], []]);
  });
});

describe("tools that the client runs", () => {
  const clientTool = {
    name: "pick",
    description: "Lets the person pick a colour",
    input: { type: "object", properties: { of: { type: "array", items: { type: "string" } } } },
  } as const;
  const pick = defineTool(clientTool);
  const picking = () => {
    const model = scriptedModel([
      { calls: [{ id: "p1", name: "pick", input: { of: ["red", "blue"] } }] },
      { text: "Blue it is." },
    ]);
    return { model, agent: defineAgent({ name: "a", model, tools: [pick] }) };
  };

  it("the start is stored, the run waits, and the client's answer is the result", async () => {
    const { agent, model } = picking();
    const started = run(agent, "Colour?");
    const { facts, result } = await collect(started);
    expect(mapToTypes(facts).slice(-2)).toEqual(["tool_call_start", "waiting"]);
    expect(result).toMatchObject({
      status: "waiting",
      text: 'Waiting for the result of "pick".',
      pending: [{ callId: "p1", name: "pick", needs: "answer", input: { of: ["red", "blue"] } }],
    });
    expect(await started.answer("p1", "blue")).toMatchObject({ status: "done", text: "Blue it is." });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ status: "ok", content: "blue" });
  });

  it("an answer inside the iteration continues the run", async () => {
    const { agent } = picking();
    const started = run(agent, "Colour?");
    const events: Event[] = [];
    for await (const event of started) {
      events.push(event);
      if (event.type === "tool_call_start") void started.answer(event.id, { data: { colour: "blue" } });
    }
    expect((await started).status).toBe("done");
    expect(mapToTypes(events)).not.toContain("waiting");
    expect(events.find((event) => event.type === "tool_call_result")).toMatchObject({
      result: '{"colour":"blue"}',
      data: { colour: "blue" },
    });
  });

  it("an answer may be a failure", async () => {
    const { agent, model } = picking();
    const started = run(agent, "Colour?");
    await started;
    await started.answer("p1", { error: "the person closed the window" });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      status: "error",
      content: "Tool execution failed: the person closed the window",
    });
  });

  it("a large answer is truncated like a tool's own result, and the rest can be read", async () => {
    const { agent, model } = picking();
    const store = memory();
    const started = run(agent, "Colour?", { session: "s", store, secrets: ["hunter2hunter2"] });
    await started;
    await started.answer("p1", `${"blue ".repeat(10_000)}hunter2hunter2`);
    const shown = model.requests[1]?.history.at(-1);
    expect(shown?.type === "result" && toPlainText(shown.content).length).toBeLessThan(17_000);
    const result = (await store.read("s")).find((fact) => fact.type === "tool_call_result");
    expect(result?.handle).toBeDefined();
    const kept = await store.getBlob("s", result?.handle ?? "");
    expect(String(kept?.data)).toBe(`${"blue ".repeat(10_000)}***`);
  });

  it("data from a client is shown to the model by the tool's own view", async () => {
    const pick = defineTool({ ...clientTool, resultForModel: ({ status }) => `It is ${status}.` });
    const model = scriptedModel([
      { calls: [{ id: "p1", name: "pick", input: { of: [] } }] },
      { text: "Good." },
    ]);
    const started = run(defineAgent({ name: "a", model, tools: [pick] }), "Colour?");
    await started;
    await started.answer("p1", { colour: "blue" });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ content: "It is ok." });
  });

  it("a promise is not an answer", async () => {
    const { agent } = picking();
    const started = run(agent, "Colour?");
    await started;
    expect(() => started.answer("p1", Promise.resolve("blue"))).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining("Await it first") }),
    );
    expect(await started.answer("p1", "blue")).toMatchObject({ status: "done" });
  });

  it("an answer that does not match the output schema is rejected, and the call stays pending", async () => {
    const strict = defineTool({
      ...clientTool,
      output: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
    const model = scriptedModel([
      { calls: [{ id: "p1", name: "pick", input: { of: [] } }] },
      { text: "Good." },
    ]);
    const started = run(defineAgent({ name: "a", model, tools: [strict] }), "Number?");
    await started;
    await expect(started.answer("p1", { n: "many" })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/call "p1" does not match the output schema of "pick".*still waits/),
    });
    expect(await started.answer("p1", { n: 3 })).toMatchObject({ status: "done", text: "Good." });
  });

  it("an answer counts once, and only for a pending call", async () => {
    const { agent } = picking();
    const store = memory();
    const started = run(agent, "Colour?", { session: "s", store });
    await started;
    expect(() => started.answer("p2", "x")).toThrow(
      expect.objectContaining({
        code: "unknown_call",
        message: 'Call "p2" does not wait for an answer. Calls that do: "p1".',
      }),
    );
    expect(() => started.approve("p1")).toThrow(expect.objectContaining({ code: "unknown_call" }));
    await started.answer("p1", "blue").answer("p1", "red");
    expect(() => started.answer("p1", "red")).toThrow(expect.objectContaining({ code: "unknown_call" }));
    const results = (await store.read("s")).filter((fact) => fact.type === "tool_call_result");
    expect(results).toMatchObject([{ result: "blue" }]);
  });
});

describe("a waiting run in another process", () => {
  const elsewhere = (facts: readonly Fact[]) => JSON.parse(JSON.stringify(facts)) as Fact[];

  it("resumes from its facts when it is approved there", async () => {
    const { facts } = await collect(run(createMailer([toBob]).agent, "Go"));
    const there = createMailer([toBob]);
    const resumed = resume(there.agent, elsewhere(facts));
    expect(await resumed).toMatchObject({ status: "waiting", pending: [{ callId: "c1" }] });
    expect(await resumed.approve("c1")).toMatchObject({ status: "done", text: "Done." });
    expect(there.sent).toEqual(["Bob"]);
    expect(there.model.requests).toHaveLength(1);
  });

  it("can be approved before it has been opened", async () => {
    const { facts } = await collect(run(createMailer([toBob]).agent, "Go"));
    const there = createMailer([toBob]);
    expect((await resume(there.agent, elsewhere(facts)).approve("c1")).status).toBe("done");
    expect(there.sent).toEqual(["Bob"]);
  });

  it("rejects an answer to an unknown call and still accepts the right one", async () => {
    const { facts } = await collect(run(createMailer([toBob]).agent, "Go"));
    const there = createMailer([toBob]);
    const resumed = resume(there.agent, elsewhere(facts)).approve("c9");
    await expect(resumed).rejects.toMatchObject({ code: "unknown_call" });
    expect((await resumed.approve("c1")).status).toBe("done");
    expect(there.sent).toEqual(["Bob"]);
  });

  it("resumes from its store, and the first process sees the decision (F57)", async () => {
    const here = createMailer([toBob]);
    const store = memory();
    const started = run(here.agent, "Go", { session: "s", store, runId: "r" });
    await started;
    const there = createMailer([toBob]);
    expect((await resume(there.agent, { store, runId: "r" }).approve("c1")).status).toBe("done");
    const seen = await collect(started.approve("c1"));
    expect(seen.result).toMatchObject({ status: "done", text: "Done." });
    expect(mapToTypes(seen.facts)).toEqual(mapToTypes((await store.read("s")).slice(5)));
    expect([here.sent, there.sent]).toEqual([[], ["Bob"]]);
  });

  it("a message to a run that has ended elsewhere is rejected", async () => {
    const store = memory();
    const started = run(createMailer([toBob]).agent, "Go", { session: "s", store, runId: "r" });
    await started;
    await resume(createMailer([toBob]).agent, { store, runId: "r" }).approve("c1");
    await expect(started.steer("Be polite.")).rejects.toMatchObject({ code: "run_ended" });
  });

  it("a second, opposite decision is a conflict and changes nothing (F57)", async () => {
    const here = createMailer([toBob]);
    const store = memory();
    const started = run(here.agent, "Go", { session: "s", store, runId: "r" });
    await started;
    await resume(createMailer([toBob]).agent, { store, runId: "r" }).deny("c1");
    await expect(started.approve("c1")).rejects.toMatchObject({ code: "approval_conflict" });
    expect(here.sent).toEqual([]);
  });

  it("an approval does not apply to a tool whose definition has changed (F57)", async () => {
    const { facts } = await collect(run(createMailer([toBob]).agent, "Go"));
    const sent: unknown[] = [];
    const changed = defineTool({
      name: "send",
      description: "Sends money",
      input: { type: "object", properties: { to: { type: "string" } } },
      needsApproval: true,
      execute: ({ to }) => sent.push(to),
    });
    const model = scriptedModel([{ text: "It was not sent." }]);
    const agent = defineAgent({ name: "mailer", model, tools: [changed] });
    const result = await resume(agent, elsewhere(facts)).approve("c1");
    expect(listToolResults(result)).toMatchObject([
      { status: "denied", error: { code: "approval_mismatch" } },
    ]);
    expect(sent).toEqual([]);
  });

  it("an approval given while a tool changed the state does not apply once it sends: the user is asked again (F57)", async () => {
    const sent: unknown[] = [];
    const createAgent = (effects: Effects, script: Script) => {
      const send = defineTool({
        name: "send",
        description: "Passes a note on.",
        input: { type: "object", properties: { to: { type: "string" } } },
        effects,
        needsApproval: true,
        execute: ({ to }) => sent.push(to),
      });
      return defineAgent({ name: "mailer", model: scriptedModel(script), tools: [send] });
    };
    const { facts } = await collect(run(createAgent("state", [{ calls: [toBob] }]), "Go"));
    const again = [{ calls: [{ ...toBob, id: "c2" }] }, { text: "Sent." }];
    const resumed = resume(createAgent("send", again), elsewhere(facts));
    const result = await resumed.approve("c1");
    expect(listToolResults(result)).toMatchObject([
      { status: "denied", error: { code: "approval_mismatch" } },
    ]);
    expect(result).toMatchObject({ status: "waiting", pending: [{ callId: "c2", needs: "approval" }] });
    expect(sent).toEqual([]);
    expect(await resumed.approve("c2")).toMatchObject({ status: "done", text: "Sent." });
    expect(sent).toEqual(["Bob"]);
  });
});

describe("the signal option", () => {
  it("aborted before: the run is cancelled and no model is called", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const result = await run(defineAgent({ name: "a", model }), "Hi", {
      signal: AbortSignal.abort(new Error("closed")),
    });
    expect(result).toMatchObject({ status: "cancelled", error: { code: "cancelled", message: "closed" } });
    expect(model.requests).toHaveLength(0);
  });

  it("aborted during: cancels the model call and keeps the partial text (S2-54)", async () => {
    const controller = new AbortController();
    let modelSignal: AbortSignal | undefined;
    const inner = scriptedModel([{ text: "Half", hang: true }]);
    const model = {
      ...inner,
      stream(...given: Parameters<typeof inner.stream>) {
        modelSignal = given[1].signal;
        return inner.stream(...given);
      },
    };
    const started = run(defineAgent({ name: "a", model }), "Hi", { signal: controller.signal });
    for await (const event of started) if (event.type === "content_delta") controller.abort();
    expect(await started).toMatchObject({ status: "cancelled", text: "Half" });
    expect(modelSignal?.aborted).toBe(true);
  });

  it("aborted while it waits: cancels the run", async () => {
    const controller = new AbortController();
    const { agent, sent } = createMailer([toBob]);
    const started = run(agent, "Go", { signal: controller.signal });
    expect((await started).status).toBe("waiting");
    controller.abort();
    expect((await started).status).toBe("cancelled");
    expect(sent).toEqual([]);
  });

  it("aborted after: changes nothing", async () => {
    const controller = new AbortController();
    const store = memory();
    const started = run(createAnsweringAgent({ text: "Hello." }), "Hi", {
      session: "s",
      store,
      signal: controller.signal,
    });
    const result = await started;
    controller.abort();
    expect(await started).toBe(result);
    expect(mapToTypes(await store.read("s"))).toEqual(factTypes);
  });

  it("a signal shared by many runs keeps no listener of ended runs", async () => {
    const { signal } = new AbortController();
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      effects: "none",
      execute: (_input, context) => sleep(fakeClock({ skipUpToMs: 10 }), 1, context.signal),
    });
    for (let count = 0; count < 20; count++) {
      const model = scriptedModel([{ calls: [{ name: "look" }] }, { text: "Done." }]);
      await run(defineAgent({ name: "a", model, tools: [look] }), "Go", { signal });
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("nor of rejected runs", async () => {
    const { signal } = new AbortController();
    const options = { session: "s", store: memory() };
    await run(createMailer([toBob]).agent, "Go", options);
    const policy = { onBusy: "reject" } as const;
    const refused = run(createAnsweringAgent({ text: "Hello." }), "Hi", { ...options, policy, signal });
    await expect(refused).rejects.toMatchObject({ code: "session_busy" });
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("an onEvent hook that throws", () => {
  const throwingAt = (place: number) => {
    let calls = 0;
    const hooks = {
      onEvent() {
        calls += 1;
        if (calls === place) throw new Error("listener broke");
      },
    };
    return { hooks, calls: () => calls };
  };

  it("at any event: is reported once, not called again, and the run ends as it would have", async () => {
    const whole = await collect(run(createMailer([{ ...toBob, input: { to: "self" } }]).agent, "Go"));
    for (let place = 1; place <= whole.events.length; place++) {
      const { hooks, calls } = throwingAt(place);
      const { agent } = createMailer([{ ...toBob, input: { to: "self" } }]);
      const { facts, result } = await collect(run(agent, "Go", { hooks }));
      const warnings = facts.filter((fact) => fact.type === "warning");
      const isLast = place === whole.events.length;
      expect([place, warnings.map((warning) => warning.code)]).toEqual([
        place,
        isLast ? [] : ["hook_failed"],
      ]);
      expect(result).toMatchObject({ status: "done", text: "Done." });
      expect(toPlainText(result.history.map((entry) => entry.type).join())).toBe(
        "user,assistant,result,assistant",
      );
      expect(calls()).toBe(place);
      expect(facts.at(-1)?.type).toBe("done");
    }
  });

  it("at any event of a run that fails: the end is still the last event", async () => {
    const failing = () => defineAgent({ name: "a", model: scriptedModel([{ error: "content_filter" }]) });
    const whole = await collect(run(failing(), "Go"));
    for (let place = 1; place <= whole.events.length; place++) {
      const store = memory();
      await run(failing(), "Go", { session: "s", store, hooks: throwingAt(place).hooks });
      expect([place, (await store.read("s")).at(-1)?.type]).toEqual([place, "done"]);
    }
  });

  it("at any event of a run that suspends: it still waits, and continues", async () => {
    const whole = await collect(run(createMailer([toBob]).agent, "Go"));
    for (let place = 1; place <= whole.events.length; place++) {
      const { agent, sent } = createMailer([toBob]);
      const started = run(agent, "Go", { hooks: throwingAt(place).hooks });
      expect([place, (await started).status]).toEqual([place, "waiting"]);
      expect([place, (await started.approve("c1")).status]).toEqual([place, "done"]);
      expect(sent).toEqual(["Bob"]);
    }
  });
});

describe("a run as a promise", () => {
  it("has `catch` and `finally`, which settle with its result", async () => {
    const model = scriptedModel([{ text: "Yes." }]);
    const handle = run(defineAgent({ name: "a", model }), "Go.");
    const order: string[] = [];
    const result = await handle.finally(() => order.push("settled")).catch(() => "never");
    expect([result, order]).toEqual([await handle, ["settled"]]);
  });

  it("has a `catch` that receives why it rejected", async () => {
    const handle = run(defineAgent({ name: "a", model: scriptedModel([]) }), "Go.", {
      timeZone: "Mars/Base",
    });
    expect(await handle.catch((error) => (error as AgentError).code)).toBe("invalid_input");
    await expect(handle.finally(() => undefined)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("an unknown option", () => {
  const agent = defineAgent({ name: "a", model: scriptedModel(() => ({ text: "Yes." })) });

  it.each([
    [{ sesion: "s" }, 'Unknown field "sesion" of the options of `run`. Did you mean "session"?'],
    [{ polcy: {} }, 'Unknown field "polcy" of the options of `run`. Did you mean "policy"?'],
    [{ onEvent: () => undefined }, 'Unknown field "onEvent" of the options of `run`.'],
  ])("of a run is refused: %o", (options: object, message) => {
    expect(() => run(agent, "Go.", options)).toThrowError(
      expect.objectContaining({ code: "invalid_definition", message }),
    );
  });

  it("of a resume is refused, also one that only a run has", async () => {
    const store = memory();
    const { runId } = await run(agent, "Go.", { store, ...{ sesion: undefined } });
    const resumeWith = (options: object) => resume(agent, { store, runId }, options);
    expect(() => resumeWith({ secret: ["x"] })).toThrowError('Did you mean "secrets"?');
    expect(() => resumeWith({ policy: {} })).toThrowError(
      'Unknown field "policy" of the options of `resume`.',
    );
  });
});

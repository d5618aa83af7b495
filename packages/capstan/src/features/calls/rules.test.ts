import { describe, expect, it } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import type { Fact } from "../../kernel/event.ts";
import type { Model } from "../../kernel/model.ts";
import { type PolicyOverrides, type Retry, resolvePolicy } from "../../kernel/policy.ts";
import { defineTool, type Effects, type Tool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import type { Result } from "../../runtime/result.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { buildToolEffect } from "./rules.ts";

const input = { type: "object" } as const;

/** Tools with each kind of effect that log the start and end of a call; the first call to start ends last. */
function createTracedTools(clock: Clock) {
  const log: string[] = [];
  const make = (name: string, effects?: Effects) =>
    defineTool({
      name,
      description: "Is traced.",
      input,
      ...(effects && { effects }),
      async execute({ n, ms = 0 }) {
        log.push(`+${n}`);
        await new Promise<void>((resolve) => clock.after(Number(ms), resolve));
        log.push(`-${n}`);
        return `Result ${n}.`;
      },
    });
  return { log, tools: [make("read", "none"), make("plain"), make("write", "state"), make("draw", "ui")] };
}

async function trace(names: readonly string[], policy: PolicyOverrides = {}) {
  const clock = fakeClock();
  const { log, tools } = createTracedTools(clock);
  const calls = names.map((name, n) => ({ name, input: { n, ms: 3 * (names.length - n) } }));
  const model = scriptedModel([{ calls }, { text: "Done." }]);
  const agent = defineAgent({ name: "helper", model, tools, policy });
  let result: Result | undefined;
  const running = run(agent, "Go.", { store: memory(), clock }).then((ended) => {
    result = ended;
  });
  while (!result) await clock.advance(1);
  await running;
  const results = model.requests[1]?.history.flatMap((entry) =>
    entry.type === "result" ? [entry.content] : [],
  );
  expect(results).toEqual(names.map((_name, n) => `Result ${n}.`));
  expect(result.status).toBe("done");
  return log.join(" ");
}

describe("the order of calls", () => {
  it("is parallel by default, with results in call order (C-05, S0-12, S0-13)", async () => {
    expect(await trace(["read", "plain", "read"])).toBe("+0 +1 +2 -2 -1 -0");
  });

  it("is one after another under sequential (C-05, S1-11)", async () => {
    expect(await trace(["read", "plain", "read"], { toolExecution: "sequential" })).toBe("+0 -0 +1 -1 +2 -2");
  });

  it("is kept for tools with effects, in parallel mode too (C-05)", async () => {
    expect(await trace(["write", "draw", "write"])).toBe("+0 -0 +1 -1 +2 -2");
  });

  it("blocks calls after a tool with effects, and finishes the calls before it first (C-05)", async () => {
    expect(await trace(["read", "read", "write", "read", "plain"])).toBe("+0 +1 -1 -0 +2 -2 +3 +4 -4 -3");
  });

  it("allows 8 concurrent calls by default (C-05)", async () => {
    const log = await trace(Array(10).fill("read"));
    expect(log.split(" ").findIndex((entry) => entry.startsWith("-"))).toBe(8);
  });
});

/** Runs a tool that fails as configured, and counts its attempts. */
async function countAttempts(tool: Partial<Tool>, failure: () => unknown, policy: PolicyOverrides = {}) {
  let attempts = 0;
  const flaky = defineTool({
    name: "flaky",
    description: "Fails.",
    input,
    ...(tool as object),
    execute() {
      attempts += 1;
      return failure();
    },
  });
  const model = scriptedModel([{ calls: [{ name: "flaky" }] }, { text: "Done." }]);
  const agent = defineAgent({ name: "helper", model, tools: [flaky], policy });
  const options = { store: memory(), clock: fakeClock({ skipUpToMs: 30_000 }) };
  const { events, result } = await collect(run(agent, "Go.", options));
  expect(result.toolCalls).toMatchObject([{ status: "error", attempts }]);
  const waits = events.flatMap((event) => (event.type === "retry" ? [event.waitMs] : []));
  return { attempts, waits };
}

const createThrower = (error: object) => () => {
  throw Object.assign(new Error("No."), error);
};

describe("retries", () => {
  it.each<[string, Partial<Tool>, number]>([
    ["without effects", { effects: "none" }, 2],
    ["of unknown effects", {}, 1],
    ["that changes the page", { effects: "ui" }, 1],
    ["that changes state", { effects: "state" }, 1],
    ["that sends", { effects: "send" }, 1],
    ["that changes state but is idempotent", { effects: "state", idempotent: true }, 2],
    ["that sends but is idempotent", { effects: "send", idempotent: true }, 2],
  ])("of a tool %s (C-07, S4-16)", async (_what, tool, attempts) => {
    expect((await countAttempts(tool, createThrower({}))).attempts).toBe(attempts);
  });

  it.each<[string, () => unknown, number]>([
    ["a throw", createThrower({}), 2],
    ["a rejection", () => Promise.reject(new Error("No.")), 2],
    ["a returned error", () => ({ error: "No." }), 2],
    ["a returned error with a code of its own", () => ({ error: { code: "BUSY", message: "No." } }), 2],
    ["a throw that says it is final", createThrower({ retryable: false }), 1],
    ["a returned error that says it is final", () => ({ error: "No.", retryable: false }), 1],
    ["a security error", createThrower({ code: "security" }), 1],
    ["a returned security error", () => ({ error: { code: "security", message: "No." } }), 1],
    ["bad arguments", createThrower({ code: "bad_arguments" }), 1],
    ["an abort", createThrower({ code: "aborted" }), 1],
    ["a denial", createThrower({ code: "tool_denied" }), 1],
  ])("after %s (C-07, D-16)", async (_what, failure, attempts) => {
    expect((await countAttempts({ effects: "none" }, failure)).attempts).toBe(attempts);
  });

  it("wait one second by default, and back off as the policy says (C-07, D-16, S4-36)", async () => {
    const none = { effects: "none" } as const;
    expect((await countAttempts(none, createThrower({}))).waits).toEqual([1000]);
    const retry = { maxAttempts: 4 };
    expect((await countAttempts(none, createThrower({}), { retry })).waits).toEqual([1000, 2000, 3000]);
    const doubled = { maxAttempts: 4, factor: "exponential" } as const;
    expect((await countAttempts(none, createThrower({}), { retry: doubled })).waits).toEqual([
      1000, 2000, 4000,
    ]);
  });

  it("count total attempts: 1 means no retry (D-16)", async () => {
    const { attempts, waits } = await countAttempts({ effects: "none" }, createThrower({}), {
      retry: { maxAttempts: 1 },
    });
    expect({ attempts, waits }).toEqual({ attempts: 1, waits: [] });
  });

  it.each<[string, unknown[]]>([
    ["an unknown tool", [{ name: "nope" }]],
    ["arguments that do not fit", [{ name: "strict" }]],
  ])("are not made for %s (C-07)", async (_what, calls) => {
    const strict = defineTool({
      name: "strict",
      description: "Wants a name.",
      input: { type: "object", required: ["name"] },
      effects: "none",
      execute: () => "Never.",
    });
    const model = scriptedModel([{ calls: calls as { name: string }[] }, { text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [strict] });
    const { events, result } = await collect(run(agent, "Go.", { store: memory(), clock: fakeClock() }));
    expect(events.filter((event) => event.type === "retry")).toEqual([]);
    expect(result.toolCalls).toMatchObject([{ status: "error", attempts: 1 }]);
  });
});

describe("a tool's own settings", () => {
  const start = (policy: PolicyOverrides) => {
    const model = scriptedModel([{ text: "-" }]);
    const agent = defineAgent({ name: "helper", model });
    const fact = {
      type: "run_start",
      input: [],
      policy: resolvePolicy(policy),
      timeZone: "UTC",
      ...{ seq: 1, at: 0, id: "x", runId: "r", sessionId: "s", agent: agent.name, turn: 0 },
    } satisfies Fact;
    const { run: state } = fold("s", [fact]);
    if (!state) throw new Error("There is no run.");
    return state;
  };
  const call = { callId: "c", name: "look", input: {} };
  const toolWith = (settings: Partial<Tool>): Tool =>
    defineTool({
      name: "look",
      description: "Looks.",
      input,
      effects: "none",
      execute: () => "",
      ...(settings as object),
    });

  it("override the policy: timeoutMs (C-07)", () => {
    const state = start({ toolTimeoutMs: 5000 });
    expect(buildToolEffect(state, toolWith({}), call).timeoutMs).toBe(5000);
    expect(buildToolEffect(state, toolWith({ timeoutMs: 70_000 }), call).timeoutMs).toBe(70_000);
  });

  it.each<[keyof Retry, Retry[keyof Retry]]>([
    ["maxAttempts", 5],
    ["baseMs", 7],
    ["factor", "exponential"],
    ["maxMs", 9],
    ["jitter", 0.5],
  ])("override the policy: retry.%s, and keep the other fields (C-07)", (field, value) => {
    const policy = { maxAttempts: 3, baseMs: 200, factor: "linear", maxMs: 400, jitter: 0.1 } as const;
    const { retry } = buildToolEffect(
      start({ retry: policy }),
      toolWith({ retry: { [field]: value } }),
      call,
    );
    expect(retry).toEqual({ ...policy, [field]: value });
  });

  it("that are undefined do not override the policy (C-07)", () => {
    const retry = { maxAttempts: undefined } as unknown as Partial<Retry>;
    expect(buildToolEffect(start({}), toolWith({ retry }), call).retry.maxAttempts).toBe(2);
  });

  it("do not cause retries of a tool that is not repeatable (C-07)", () => {
    const tool = toolWith({ effects: "send", retry: { maxAttempts: 5 } });
    expect(buildToolEffect(start({}), tool, call).retry.maxAttempts).toBe(1);
  });

  it("do not exceed the time budget", () => {
    const state = start({ budget: { seconds: 2 } });
    expect(buildToolEffect(state, toolWith({ timeoutMs: 70_000 }), call).deadlineMs).toBe(2000);
  });
});

describe("after a crash in the middle of a call", () => {
  async function crashed(settings: Partial<Tool>) {
    let ran = 0;
    const tool = defineTool({
      name: "act",
      description: "Acts.",
      input,
      ...(settings as object),
      execute: () => `Ran ${++ran}.`,
    });
    const agentWith = (model: Model) => defineAgent({ name: "helper", model, tools: [tool] });
    const agent = agentWith(scriptedModel([{ calls: [{ id: "c1", name: "act" }] }, { text: "Done." }]));
    const { facts } = await collect(run(agent, "Go.", { store: memory(), session: "s", runId: "r" }));
    const begun = facts.slice(0, facts.findIndex(({ type }) => type === "tool_call_start") + 1);
    return { begun, agent, agentWith, runs: () => ran };
  }

  it.each<[string, Partial<Tool>]>([
    ["has no effects", { effects: "none" }],
    ["is idempotent", { effects: "send", idempotent: true }],
  ])("a tool that %s runs again", async (_what, settings) => {
    const { begun, agent } = await crashed(settings);
    expect(decide(indexAgents(agent), fold("s", begun))).toMatchObject({
      type: "effects",
      effects: [{ type: "tool", callId: "c1", attempt: 2 }],
    });
  });

  it.each<[string, Partial<Tool>]>([
    ["sends", { effects: "send" }],
    ["changes state", { effects: "state" }],
    ["does not say", {}],
  ])("a tool that %s does not run again; the result says that it may have taken effect", async (_what, settings) => {
    const { begun, agentWith, runs } = await crashed(settings);
    const model = scriptedModel([{ text: "I will check." }]);
    const result = await resume(agentWith(model), begun);
    expect(runs()).toBe(1);
    expect(model.requests[0]?.history.at(-1)).toMatchObject({
      callId: "c1",
      status: "interrupted",
      error: { code: "tool_interrupted" },
      content: expect.stringContaining("may or may not have taken effect"),
    });
    expect(result.text).toBe("I will check.");
  });
});

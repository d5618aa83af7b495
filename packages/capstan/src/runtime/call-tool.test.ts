import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool, type Tool, type ToolContext, type ToolDefinition } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedCall, scriptedModel } from "../testing/scripted-model.ts";
import { type RunOptions, resume, run } from "./run.ts";

const stray: unknown[] = [];
const onUnhandledRejection = (reason: unknown) => void stray.push(reason);

beforeEach(() => {
  stray.length = 0;
  process.on("unhandledRejection", onUnhandledRejection);
});
afterEach(() => {
  process.off("unhandledRejection", onUnhandledRejection);
});

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 2));
const never = () => new Promise(() => undefined);

type Execute = (input: unknown, context: ToolContext) => unknown;

function tool(name: string, execute: Execute, settings: Partial<ToolDefinition<object>> = {}): Tool {
  return defineTool({ name, description: name, input: { type: "object" }, ...settings, execute });
}

/** A tool that ignores its signal and ends only when released; `begun` resolves to its context. */
function createHeldTool(name: string, settings: Partial<ToolDefinition<object>> = {}) {
  const begun = Promise.withResolvers<ToolContext>();
  const end = Promise.withResolvers<unknown>();
  const execute: Execute = (_input, context) => {
    begun.resolve(context);
    return end.promise;
  };
  return { tool: tool(name, execute, settings), begun: begun.promise, end };
}

/** An agent whose model makes these calls at once and then answers. */
function createCallingAgent(
  calls: readonly ScriptedCall[],
  tools: readonly Tool[],
  policy: PolicyOverrides = {},
) {
  const model = scriptedModel([{ calls }, { text: "Done." }]);
  const agent = defineAgent({ name: "helper", model, tools, policy });
  const clock = fakeClock();
  const store = memory();
  const options: RunOptions = { session: "ses", runId: "r", store, clock };
  return { agent, clock, model, options, store };
}

const listResults = (facts: readonly Fact[]) => facts.filter((fact) => fact.type === "tool_call_result");

describe("every call has one result of one shape", () => {
  it("whether the tool is unknown, succeeds, fails or throws a non-error (S0-37, S0-38, S4-34)", async () => {
    const calls = ["nope", "works", "fails", "odd"].map((name) => ({ id: name, name }));
    const { agent, model, options } = createCallingAgent(calls, [
      tool("works", () => ({ degrees: 12 })),
      tool("fails", () => Promise.reject(new Error("no network"))),
      tool("odd", () => {
        throw "a text";
      }),
    ]);
    const { facts } = await collect(run(agent, "Go", options));
    expect(model.requests[1]?.history.slice(2)).toMatchObject([
      { callId: "nope", status: "error", content: expect.stringMatching(/^Unknown tool/) },
      { callId: "works", status: "ok", content: '{"degrees":12}' },
      { callId: "fails", status: "error", content: "Tool execution failed: no network" },
      { callId: "odd", status: "error", content: "Tool execution failed: Unknown error (thrown: a text)" },
    ]);
    const shapes = listResults(facts).map(({ type, name, is_error, attempts }) => ({
      type,
      name,
      is_error,
      attempts,
    }));
    expect(shapes).toHaveLength(4);
    for (const { is_error, name } of shapes) expect(is_error).toBe(name !== "works");
  });

  it("with the tool's own error code, thrown or returned (S3-25)", async () => {
    const { agent, options } = createCallingAgent(
      [{ name: "thrown" }, { name: "returned" }],
      [
        tool("thrown", () => {
          throw Object.assign(new Error("disk full"), { code: "EXECUTION_FAILED" });
        }),
        tool("returned", () => ({ error: { code: "EXECUTION_FAILED", message: "disk full" } })),
      ],
    );
    const { facts } = await collect(run(agent, "Go", options));
    const told = { code: "EXECUTION_FAILED", message: "disk full", retryable: true };
    expect(listResults(facts).map((fact) => [fact.error, fact.result])).toEqual([
      [told, "Tool execution failed: disk full"],
      [told, "Tool execution failed: disk full"],
    ]);
  });

  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error("from the getter");
      },
    },
  );
  const deaf = Object.assign(() => undefined, {
    toString() {
      throw new Error("from toString");
    },
  });

  it.each([
    ["a text", "oh no", "Unknown error (thrown: oh no)"],
    ["null", null, "Unknown error (thrown: null)"],
    ["undefined", undefined, "Unknown error (thrown: undefined)"],
    ["a number", 42, "Unknown error (thrown: 42)"],
    ["a symbol", Symbol("s"), "Unknown error (thrown: Symbol(s))"],
    ["a frozen error", Object.freeze(new Error("frozen")), "frozen"],
    ["an error without words", new TypeError(""), "TypeError"],
    [
      "an object without a message",
      { status: 500 },
      "Unknown error (an object without a message was thrown)",
    ],
    [
      "an object without a prototype",
      Object.create(null),
      "Unknown error (an object without a message was thrown)",
    ],
    ["an object whose getters throw", hostile, "Unknown error (an object without a message was thrown)"],
    ["a function that cannot be written", deaf, "Unknown error"],
  ])("when %s is thrown, and the run goes on (F43)", async (_what, thrown, message) => {
    const { agent, options } = createCallingAgent(
      [{ name: "odd" }],
      [
        tool("odd", () => {
          throw thrown;
        }),
      ],
    );
    const result = await run(agent, "Go", options);
    expect(result).toMatchObject({ status: "done", text: "Done." });
    expect(result.toolCalls).toMatchObject([
      { status: "error", result: expect.stringContaining(`Tool execution failed: ${message}`) },
    ]);
  });

  it("with at most 4,096 characters of a thrown message (F44)", async () => {
    const { agent, options } = createCallingAgent(
      [{ name: "long" }],
      [tool("long", () => Promise.reject(new Error("x".repeat(5_000_000))))],
    );
    const { facts } = await collect(run(agent, "Go", options));
    const [fact] = listResults(facts);
    expect(fact?.error?.message).toMatch(/^x{4096}… \(4995904 more characters\)$/);
    expect(String(fact?.result).length).toBeLessThan(4200);
  });

  it("with the outcome from onAfterTool, which the model reads (S3-45)", async () => {
    const { agent, model, options } = createCallingAgent(
      [{ id: "c1", name: "plan", input: { step: 1 } }],
      [tool("plan", () => "ok")],
    );
    const seen: unknown[] = [];
    const result = await run(agent, "Go", {
      ...options,
      context: { todos: 3 },
      hooks: {
        onAfterTool(call, outcome) {
          seen.push(call, outcome);
          return { ...outcome, content: `${outcome.content}; 3 todos are open.` };
        },
      },
    });
    expect(seen).toEqual([
      { id: "c1", name: "plan", input: { step: 1 }, context: { todos: 3 } },
      { status: "ok", content: "ok" },
    ]);
    expect(model.requests[1]?.history.at(-1)).toMatchObject({ content: "ok; 3 todos are open." });
    expect(result.toolCalls).toMatchObject([{ status: "ok", result: "ok; 3 todos are open." }]);
  });

  it("with the labels that the tool returned, whatever a hook or the output schema makes of the result (A100)", async () => {
    const returned = { content: "Text of a stranger.", data: "text", reads: ["untrusted"] };
    const settings = { effects: "none", reads: [] } as const;
    const tools = [
      tool("hooked", () => returned, settings),
      tool("failing", () => returned, settings),
      tool("invalid", () => returned, { ...settings, output: z.literal("number") }),
    ];
    const { agent, options } = createCallingAgent(
      tools.map(({ name }) => ({ name })),
      tools,
      { retry: { maxAttempts: 1 } },
    );
    const { facts } = await collect(
      run(agent, "Go.", {
        ...options,
        hooks: {
          onAfterTool({ name }, { status }) {
            if (name === "failing") throw new Error("Text of a stranger.");
            return name === "hooked" ? { status, content: "Translated." } : undefined;
          },
        },
      }),
    );
    const results = facts.filter((fact) => fact.type === "tool_call_result");
    const labels = Object.fromEntries(results.map(({ name, reads }) => [name, reads]));
    expect(labels).toEqual({ hooked: ["untrusted"], failing: ["untrusted"], invalid: ["untrusted"] });
  });

  it("unchanged when onAfterTool returns nothing, and a failure when it throws (S3-45)", async () => {
    const { agent, options } = createCallingAgent(
      [{ name: "a" }, { name: "b" }],
      [tool("a", () => "A"), tool("b", () => "B")],
    );
    const result = await run(agent, "Go", {
      ...options,
      hooks: {
        async onAfterTool({ name }) {
          if (name === "b") throw new Error("no todo list");
          return undefined;
        },
      },
    });
    expect(result.toolCalls.map(({ status, result }) => [status, result])).toEqual([
      ["ok", "A"],
      ["error", "Tool execution failed: no todo list"],
    ]);
  });

  it("with the outcome from onAfterTool after a timeout (S3-45, F40)", async () => {
    const { agent, model, options } = createCallingAgent(
      [{ name: "stuck" }],
      [tool("stuck", never, { timeoutMs: 50 })],
    );
    await run(agent, "Go", {
      ...options,
      clock: fakeClock({ skipUpToMs: 50 }),
      hooks: { onAfterTool: async (_call, outcome) => ({ ...outcome, content: "It is slow today." }) },
    });
    expect(model.requests[1]?.history.at(-1)).toMatchObject({
      status: "error",
      content: "It is slow today.",
      error: { code: "tool_timeout" },
    });
  });

  it("and is not made when onBeforeTool refuses it", async () => {
    let ran = 0;
    const { agent, options } = createCallingAgent([{ name: "pay" }], [tool("pay", () => ++ran)]);
    const result = await run(agent, "Go", {
      ...options,
      hooks: {
        onBeforeTool({ name }) {
          throw new AgentError("security", `"${name}" is not allowed here.`);
        },
      },
    });
    expect(ran).toBe(0);
    expect(result.toolCalls).toMatchObject([{ status: "error", result: '"pay" is not allowed here.' }]);
  });
});

it.each([
  ["more than is kept", 21, "what was kept of it; the rest was too large"],
  ["a lot", 2, "all of it"],
])("a tool that returns %s: the model is told what it can read (F47)", async (_, count, kept) => {
  const rows = Array.from({ length: count }, () => "x".repeat(1_000_000));
  const list = tool("list", () => ({ rows }));
  const { agent, options, store } = createCallingAgent([{ id: "c1", name: "list" }], [list]);
  const { facts } = await collect(run(agent, "Go", options));
  const [result] = listResults(facts);
  expect(result?.result).toContain(
    `read_result { "handle": "${result?.handle}" } has ${kept}`.replaceAll('"', '\\"'),
  );
  expect(result?.isPartial).toBe(kept === "all of it" ? undefined : true);
  const { data = "" } = (await store.getBlob("ses", result?.handle ?? "")) ?? {};
  expect(data.length > 20_000_000 || data === JSON.stringify({ rows })).toBe(kept === "all of it");
});

describe("several calls of a turn", () => {
  it("run at the same time, and their results come back in call order (S2-43, S4-05, S3-14)", async () => {
    const meeting = Promise.withResolvers<void>();
    const ended: string[] = [];
    const { agent, model, options } = createCallingAgent(
      [
        { id: "1", name: "waits" },
        { id: "2", name: "comes" },
      ],
      [
        // Ends only because the other call runs concurrently.
        tool("waits", async () => {
          await meeting.promise;
          ended.push("waits");
        }),
        tool("comes", () => {
          ended.push("comes");
          meeting.resolve();
        }),
      ],
    );
    const { facts } = await collect(run(agent, "Go", options));
    expect(ended).toEqual(["comes", "waits"]);
    expect(listResults(facts).map(({ id }) => id)).toEqual(["2", "1"]);
    expect(model.requests[1]?.history.slice(2)).toMatchObject([{ callId: "1" }, { callId: "2" }]);
  });

  it("all end and are returned in call order when one of them fails (F55)", async () => {
    const slow = Promise.withResolvers<string>();
    const { agent, model, options } = createCallingAgent(
      [
        { id: "1", name: "slow" },
        { id: "2", name: "fails" },
      ],
      [
        tool("slow", () => slow.promise),
        tool("fails", () => {
          setTimeout(() => slow.resolve("made it"), 1);
          throw new Error("broken");
        }),
      ],
    );
    expect(await run(agent, "Go", options)).toMatchObject({ status: "done" });
    expect(model.requests[1]?.history.slice(2)).toMatchObject([
      { callId: "1", status: "ok", content: "made it" },
      { callId: "2", status: "error", content: "Tool execution failed: broken" },
    ]);
  });

  it("run one after the other when the policy says so, and a failure stops none of them (S2-09, S3-14)", async () => {
    const order: string[] = [];
    const step = (name: string, fails = false) =>
      tool(name, async () => {
        order.push(`${name} begins`);
        await nextTask();
        order.push(`${name} ends`);
        if (fails) throw new Error("broken");
      });
    const { agent, model, options } = createCallingAgent(
      [{ name: "a" }, { name: "b" }, { name: "c" }],
      [step("a"), step("b", true), step("c")],
      { toolExecution: "sequential" },
    );
    await run(agent, "Go", options);
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    expect(model.requests[1]?.history.slice(2)).toMatchObject([
      { name: "a", status: "ok" },
      { name: "b", status: "error" },
      { name: "c", status: "ok" },
    ]);
  });

  it("are retried independently and concurrently, and each attempt is reported (S4-36, S4-35)", async () => {
    const begun: string[] = [];
    const flaky = tool(
      "flaky",
      (input) => {
        const { id } = input as { id: string };
        begun.push(id);
        if (begun.filter((one) => one === id).length === 1) throw new Error("busy");
        return `${id} worked`;
      },
      { effects: "none" },
    );
    const broken = tool(
      "broken",
      () => {
        begun.push("broken");
        throw new Error("gone");
      },
      { effects: "none" },
    );
    const { agent, options } = createCallingAgent(
      [{ name: "flaky", input: { id: "a" } }, { name: "broken" }, { name: "flaky", input: { id: "b" } }],
      [flaky, broken],
    );
    const { events, result } = await collect(
      run(agent, "Go", { ...options, clock: fakeClock({ skipUpToMs: 1000 }) }),
    );
    expect(begun).toEqual(["a", "broken", "b", "a", "broken", "b"]);
    expect(
      events.flatMap((event) => (event.type === "retry" ? [[event.attempt, event.waitMs]] : [])),
    ).toEqual([
      [1, 1000],
      [1, 1000],
      [1, 1000],
    ]);
    expect(result.toolCalls.map(({ status, attempts, result }) => [status, attempts, result])).toEqual([
      ["ok", 2, "a worked"],
      ["error", 2, "Tool execution failed: gone"],
      ["ok", 2, "b worked"],
    ]);
  });

  it("are not retried unless the tool declares that it may run twice (S4-16)", async () => {
    let ran = 0;
    const { agent, options } = createCallingAgent(
      [{ name: "pay" }],
      [tool("pay", () => Promise.reject(new Error(`try ${++ran}`)))],
    );
    const result = await run(agent, "Go", { ...options, clock: fakeClock({ skipUpToMs: 1000 }) });
    expect(ran).toBe(1);
    expect(result.toolCalls).toMatchObject([{ status: "error", attempts: 1 }]);
  });

  it("that all fail despite retries leave an answer that is marked as not grounded (S4-07)", async () => {
    let ran = 0;
    const search = tool("search", () => Promise.reject(new Error(`down ${++ran}`)), { effects: "none" });
    const { agent, model, options } = createCallingAgent([{ name: "search" }], [search], {
      onAllToolsFailed: "answer-from-knowledge",
    });
    const result = await run(agent, "Go", { ...options, clock: fakeClock({ skipUpToMs: 1000 }) });
    expect(ran).toBe(2);
    expect(model.requests[1]).toMatchObject({ tools: [], toolChoice: "none" });
    expect(model.requests[1]?.instructions).toContain("Answer from what you know");
    expect(result).toMatchObject({ status: "done", text: "Done.", grounded: false });
  });
});

it("a tool is not started if the run is cancelled while the input is validated (F56)", async () => {
  const controller = new AbortController();
  let validations = 0;
  let starts = 0;
  const input = z.object({}).refine(() => {
    validations += 1;
    if (validations === 2) controller.abort(); // the first time, the model's message is checked
    return true;
  });
  const { agent, options } = createCallingAgent(
    [{ name: "late" }],
    [tool("late", () => `started ${++starts} times`, { input })],
  );
  const result = await run(agent, "Go", { ...options, signal: controller.signal });
  expect(result.status).toBe("cancelled");
  expect([validations, starts]).toEqual([2, 0]);
});

describe("a tool that does not end", () => {
  it("times out after 60 s: the model is told, the signal is aborted, and the slot is free (F40)", async () => {
    const stuck = createHeldTool("stuck");
    const { agent, clock, model, options } = createCallingAgent(
      [
        { id: "1", name: "stuck" },
        { id: "2", name: "quick" },
      ],
      [stuck.tool, tool("quick", () => "quick")],
      { maxConcurrency: 1 },
    );
    const going = run(agent, "Go", options);
    const { signal } = await stuck.begun;
    await clock.advance(59_999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    const result = await going;
    expect(signal.reason).toMatchObject({ code: "tool_timeout" });
    expect(model.requests[1]?.history.slice(2)).toMatchObject([
      {
        callId: "1",
        status: "error",
        content: '"stuck" gave no result within 60000 ms.',
        error: { code: "tool_timeout" },
      },
      { callId: "2", status: "ok", content: "quick" },
    ]);
    expect(result.toolCalls[0]).toMatchObject({ ms: 60_000, attempts: 1 });
  });

  it("within its own timeout is retried if it may run twice, and then times out (F40)", async () => {
    const signals: AbortSignal[] = [];
    const stuck = tool(
      "stuck",
      (_input, { signal }) => {
        signals.push(signal);
        return never();
      },
      { effects: "none", timeoutMs: 50 },
    );
    const { agent, options } = createCallingAgent([{ name: "stuck" }], [stuck]);
    const result = await run(agent, "Go", { ...options, clock: fakeClock({ skipUpToMs: 1000 }) });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(result.toolCalls).toMatchObject([{ status: "error", attempts: 2 }]);
  });

  it("and ends later is ignored: its late result and progress are not in the log (F41)", async () => {
    const late = createHeldTool("late");
    const { agent, clock, options, store } = createCallingAgent([{ name: "late" }], [late.tool]);
    const heard: unknown[] = [];
    const going = run(agent, "Go", { ...options, hooks: { onEvent: (event) => void heard.push(event) } });
    const { progress } = await late.begun;
    await clock.advance(60_000);
    await going;
    const before = heard.length;
    progress("90 %");
    late.end.resolve("too late");
    await nextTask();
    const log = await store.read("ses");
    expect(listResults(log)).toMatchObject([{ status: "error", error: { code: "tool_timeout" } }]);
    expect(log.at(-1)?.type).toBe("done");
    expect(JSON.stringify(log)).not.toContain("too late");
    expect(heard).toHaveLength(before);
  });

  it.each([
    "time-out",
    "cancellation",
  ])("and rejects after its %s does not end the process (F45)", async (cause) => {
    const late = createHeldTool("late");
    const { agent, clock, options } = createCallingAgent([{ name: "late" }], [late.tool]);
    const going = run(agent, "Go", options);
    await late.begun;
    if (cause === "time-out") await clock.advance(60_000);
    else going.cancel();
    await going;
    late.end.reject(new Error("after the end"));
    await nextTask();
    expect(stray).toEqual([]);
  });

  it("and cancels the run while starting does not end the process either (F45)", async () => {
    const controller = new AbortController();
    const { agent, options } = createCallingAgent(
      [{ name: "stopper" }],
      [
        tool("stopper", async () => {
          controller.abort();
          throw new Error("me too");
        }),
      ],
    );
    const result = await run(agent, "Go", { ...options, signal: controller.signal });
    await nextTask();
    expect(result.status).toBe("cancelled");
    expect(stray).toEqual([]);
  });

  it("does not block a cancelled run: each of three signals fires once, each call has its result (F56)", async () => {
    const names = ["a", "b", "c"];
    const deaf = names.map((name) => createHeldTool(name, { idempotent: true }));
    const { agent, model, options, store } = createCallingAgent(
      names.map((name) => ({ id: name, name })),
      deaf.map((one) => one.tool),
    );
    const going = run(agent, "Go", options);
    const fired: string[] = [];
    for (const { begun } of deaf) {
      const { callId, signal } = await begun;
      signal.addEventListener("abort", () => fired.push(callId));
    }
    going.cancel("Enough.");
    going.cancel("Really.");
    const result = await going;
    expect(fired).toEqual(names);
    expect(result).toMatchObject({ status: "cancelled", error: { code: "cancelled", message: "Enough." } });
    expect(listResults(await store.read("ses")).map(({ id, status }) => [id, status])).toEqual([
      ["a", "interrupted"],
      ["b", "interrupted"],
      ["c", "interrupted"],
    ]);
    expect(model.requests).toHaveLength(1);
  });

  it.each([
    "onBeforeTool",
    "onAfterTool",
  ] as const)("because of %s does not hold up a cancelled run either (F56)", async (hook) => {
    const { agent, options } = createCallingAgent([{ name: "quick" }], [tool("quick", () => "quick")]);
    const begun = Promise.withResolvers<void>();
    const hooks = {
      [hook]() {
        begun.resolve();
        return new Promise<undefined>(() => undefined);
      },
    };
    const going = run(agent, "Go", { ...options, hooks });
    await begun.promise;
    going.cancel();
    const tooLate = new Promise((resolve) => setTimeout(resolve, 30_000, "still going"));
    expect(await Promise.race([going.then(({ status }) => status), tooLate])).toBe("cancelled");
  });

  it("because it blocks the event loop is named in a warning (F42)", async () => {
    const clock = fakeClock();
    const busy = tool("busy", () => {
      void clock.advance(10_000);
      return "found";
    });
    const { agent, options } = createCallingAgent([{ name: "busy" }], [busy]);
    const { facts, result } = await collect(run(agent, "Go", { ...options, clock }));
    expect(facts.filter((fact) => fact.type === "warning")).toMatchObject([
      { code: "event_loop_blocked", message: 'The tool "busy" blocked the process for 10000 ms.' },
    ]);
    expect(result.toolCalls).toMatchObject([{ status: "ok", result: "found" }]);
  });

  it("but yields to others is not named (F42)", async () => {
    const clock = fakeClock();
    const { agent, options } = createCallingAgent(
      [{ name: "slow" }],
      [
        tool("slow", async () => {
          await nextTask();
          await clock.advance(10_000);
        }),
      ],
    );
    const { facts } = await collect(run(agent, "Go", { ...options, clock }));
    expect(facts.map((fact) => fact.type)).not.toContain("warning");
  });
});

describe("a running tool", () => {
  it("emits progress, which is not stored", async () => {
    const { agent, options, store } = createCallingAgent(
      [{ id: "c1", name: "long" }],
      [
        tool("long", (_input, { progress }) => {
          progress({ percent: 50 });
          return "ok";
        }),
      ],
    );
    const { events } = await collect(run(agent, "Go", options));
    expect(events.filter((event) => event.type === "tool_progress")).toMatchObject([
      { id: "c1", data: { percent: 50 } },
    ]);
    expect((await store.read("ses")).map((fact) => fact.type)).not.toContain("tool_progress");
  });

  it("has its start in the log before it runs (S3-14)", async () => {
    const logged: string[] = [];
    const { agent, options, store } = createCallingAgent(
      [{ name: "look" }],
      [
        tool("look", async () => {
          logged.push(...(await store.read("ses")).map((fact) => fact.type));
        }),
      ],
    );
    await run(agent, "Go", options);
    expect(logged.at(-1)).toBe("tool_call_start");
  });
});

describe("an approval", () => {
  const definition = {
    name: "pay",
    description: "Pays",
    input: z.object({ amount: z.number() }),
    needsApproval: "It costs money.",
  } as const;

  /** The facts of a run that waits for the approval of `pay({ amount: 5 })`. */
  async function runUntilWaiting() {
    const asked = defineTool({ ...definition, execute: () => "never" });
    const { agent, options } = createCallingAgent([{ id: "c1", name: "pay", input: { amount: 5 } }], [asked]);
    const { facts, result } = await collect(run(agent, "Go", options));
    expect(result).toMatchObject({ status: "waiting", pending: [{ callId: "c1", input: { amount: 5 } }] });
    return facts;
  }

  /** Resumes from these facts with this tool, and approves. */
  async function resumeAndApprove(
    facts: readonly Fact[],
    change: { description?: string; input?: z.ZodObject } = {},
  ) {
    const paid: Json[] = [];
    const pay = defineTool({
      ...definition,
      ...change,
      execute(input) {
        paid.push(input as Json);
        return "Paid.";
      },
    });
    const model = scriptedModel([{ text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [pay] });
    const result = await resume(agent, facts, { clock: fakeClock() }).approve("c1");
    return { paid, result };
  }

  it("lets exactly that call run, once (A109)", async () => {
    const { paid, result } = await resumeAndApprove(await runUntilWaiting());
    expect(paid).toEqual([{ amount: 5 }]);
    expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "ok", result: "Paid." }] });
  });

  it.each([
    ["describes itself otherwise", { description: "Pays anyone at once" }],
    ["takes other arguments", { input: z.object({ amount: z.number(), to: z.string().default("Mallory") }) }],
  ])("of a tool that now %s is refused (A109)", async (_what, change) => {
    const { paid, result } = await resumeAndApprove(await runUntilWaiting(), change);
    expect(paid).toEqual([]);
    expect(result.toolCalls).toMatchObject([
      {
        status: "denied",
        result:
          '"pay" or its arguments are not what was approved. The call was not made; call it again to ask for a new approval.',
      },
    ]);
    expect(result.status).toBe("done");
  });

  it("of a call whose arguments have changed is refused (A109)", async () => {
    const facts = (await runUntilWaiting()).map((fact) =>
      fact.type === "message"
        ? (JSON.parse(JSON.stringify(fact).replace('"amount":5', '"amount":5000')) as Fact)
        : fact,
    );
    const { paid, result } = await resumeAndApprove(facts);
    expect(paid).toEqual([]);
    expect(result.toolCalls).toMatchObject([{ status: "denied", input: { amount: 5000 } }]);
  });

  it("does not allow a later call with the same provider id (A109, F28)", async () => {
    const paid: number[] = [];
    const pay = defineTool({ ...definition, execute: ({ amount }) => void paid.push(amount) });
    const model = scriptedModel([
      { calls: [{ id: "c1", name: "pay", input: { amount: 5 } }] },
      { calls: [{ id: "c1", name: "pay", input: { amount: 5000 } }] },
    ]);
    const going = run(defineAgent({ name: "helper", model, tools: [pay] }), "Go");
    await going;
    const result = await going.approve("c1");
    expect(paid).toEqual([5]);
    expect(result).toMatchObject({
      status: "waiting",
      pending: [{ callId: "c1~2", input: { amount: 5000 } }],
    });
  });
});

describe("a tool that ends the process", () => {
  const index = new URL("../index.ts", import.meta.url).href;
  const testing = new URL("../testing/index.ts", import.meta.url).href;
  const program = `
    import { appendFileSync } from "node:fs";
    import { defineAgent, defineTool, isFact, run } from ${JSON.stringify(index)};
    import { scriptedModel } from ${JSON.stringify(testing)};
    const [log, keys] = process.argv.slice(2);
    const input = { type: "object" };
    const pay = defineTool({ name: "pay", description: "pay", input, execute: () => setTimeout(() => process.exit(3), 20) && new Promise(() => {}) });
    const look = defineTool({ name: "look", description: "look", input, effects: "none", execute(_, { idempotencyKey }) {
      appendFileSync(keys, idempotencyKey + "\\n");
      return new Promise(() => {});
    } });
    const quick = defineTool({ name: "quick", description: "quick", input, execute: () => "was done" });
    const calls = [{ id: "p", name: "pay" }, { id: "l", name: "look" }, { id: "q", name: "quick" }];
    const agent = defineAgent({ name: "helper", model: scriptedModel([{ calls }]), tools: [pay, look, quick] });
    const onEvent = (event) => isFact(event) && appendFileSync(log, JSON.stringify(event) + "\\n");
    await run(agent, "Go", { session: "ses", runId: "r", hooks: { onEvent } });
  `;

  it("leaves facts from which the run resumes elsewhere, repeating only repeatable calls (F46)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-exit-"));
    try {
      const [script, log, keys] = ["run.mjs", "facts.jsonl", "keys"].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(script, program);
      const child = spawnSync(process.execPath, ["--conditions=capstan-source", script, log, keys], {
        encoding: "utf8",
      });
      expect([child.status, child.stderr]).toEqual([3, ""]);
      const facts = readFileSync(log, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Fact);
      expect(listResults(facts).map(({ id }) => id)).toEqual(["q"]);

      const ran: string[] = [];
      const again = (name: string, effects: Partial<Tool> = {}) =>
        tool(
          name,
          (_input, { idempotencyKey }) => {
            ran.push(idempotencyKey);
            return `${name} again`;
          },
          effects,
        );
      const model = scriptedModel([{ text: "Back." }]);
      const tools = [again("pay"), again("look", { effects: "none" }), again("quick")];
      const result = await resume(defineAgent({ name: "helper", model, tools }), facts);

      expect(ran).toEqual([readFileSync(keys, "utf8").trim()]);
      expect(result).toMatchObject({ status: "done", text: "Back." });
      expect(model.requests[0]?.history.slice(2)).toMatchObject([
        {
          callId: "p",
          status: "interrupted",
          content: expect.stringContaining("may or may not have taken effect"),
        },
        { callId: "l", status: "ok", content: "look again" },
        { callId: "q", status: "ok", content: "was done" },
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Event, Fact } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import type { Hooks } from "../runtime/open-run.ts";
import { quarantine } from "../runtime/quarantine.ts";
import { type RunOptions, run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import * as tools from "./fixtures/isolated-tools.ts";

/** The output of the processes, which write there why they crash. */
let write: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(() => write.mockRestore());

/** An agent that calls the tool once and then answers. */
function createCaller(tool: Tool, input: object = {}) {
  return defineAgent({
    name: "caller",
    model: scriptedModel([{ calls: [{ name: tool.name, input: { ...input } }] }, { text: "Over." }]),
    tools: [tool],
    policy: { retry: { maxAttempts: 1 }, gate: "off" },
  });
}

type CallResult = Extract<Fact, { type: "tool_call_result" }>;

/** Lets a run call the tool, and returns the result of the call. The run continues and ends. */
async function callTool(
  tool: Tool,
  input: object = {},
  options: RunOptions = {},
): Promise<CallResult | undefined> {
  const { store = memory(), session = "s" } = options;
  const { status } = await run(createCaller(tool, input), "Go.", { ...options, store, session });
  expect(status).toBe("done");
  return (await store.read(session)).find((fact) => fact.type === "tool_call_result");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const isProgress = (event: Event) => event.type === "tool_progress";

describe("an isolated tool", () => {
  it("is executed in a process of its own, with its input, context, key and progress (F42)", async () => {
    const handle = run(createCaller(tools.double, { value: 21 }), "Go.", {
      store: memory(),
      runId: "run_1",
      context: { user: "ann", log: () => undefined },
    });
    const events: Event[] = [];
    for await (const event of handle) events.push(event);
    const call = events.find((event) => event.type === "tool_call_result");
    expect(call).toMatchObject({
      status: "ok",
      data: { doubled: 42, context: { user: "ann" }, idempotencyKey: expect.stringMatching(/^run_1\//) },
    });
    expect(events.find(isProgress)).toMatchObject({ data: { half: true } });
    const { pid } = call?.data as { pid: number };
    expect(pid).not.toBe(process.pid);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("that exhausts its memory is a failed call, and the run continues (F42)", async () => {
    expect(await callTool(tools.exhaust)).toMatchObject({
      status: "error",
      error: {
        code: "tool_crashed",
        message: '"exhaust" crashed: its process ran out of memory (limit: 24 MB).',
        retryable: false,
      },
    });
  });

  it("that blocks its process is killed at its timeout, and other runs are not delayed (F42)", async () => {
    const pid = Promise.withResolvers<number>();
    const clock = fakeClock();
    const hooks: Hooks = {
      onEvent: (event) => void (event.type === "tool_progress" && pid.resolve(Number(event.data))),
    };
    const blocked = callTool({ ...tools.block, timeoutMs: 5_000 }, {}, { clock, hooks });
    expect(isAlive(await pid.promise)).toBe(true);
    const other = await run(defineAgent({ name: "b", model: scriptedModel([{ text: "Quick." }]) }), "Hi.", {
      store: memory(),
    });
    expect(other.text).toBe("Quick.");
    await clock.advance(5_000);
    expect(await blocked).toMatchObject({ status: "error", error: { code: "tool_timeout" } });
    await expect.poll(async () => isAlive(await pid.promise)).toBe(false);
  });

  it("is killed when its run is cancelled", async () => {
    const handle = run(createCaller(tools.block), "Go.", { store: memory() });
    let pid = 0;
    for await (const event of handle) {
      if (event.type !== "tool_progress") continue;
      pid = Number(event.data);
      handle.cancel("Enough.");
    }
    expect(await handle).toMatchObject({ status: "cancelled", toolCalls: [{ status: "interrupted" }] });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it.each([
    [tools.exit, "exit code 0"],
    [tools.abort, "SIGABRT"],
  ])("that ends its process fails alone: %#", async (tool, reason) => {
    expect(await callTool(tool)).toMatchObject({
      error: { code: "tool_crashed", message: expect.stringContaining(reason) },
    });
  });

  it("returns errors, bytes, streams, blobs and questions as any tool does", async () => {
    expect(await callTool(tools.fail)).toMatchObject({
      error: { code: "no_invoice", message: "No such invoice.", retryable: false },
    });
    expect((await callTool(tools.bytes))?.result).toMatch(/^\[application\/octet-stream, 3 bytes/);
    expect((await callTool(tools.stream))?.result).toBe("one two");
    const handle = run(createCaller(tools.ask), "Go.", { store: memory() });
    const { pending } = await handle;
    expect(pending[0]?.question?.message).toBe("Really?");
    expect((await handle.approve(pending[0]?.callId ?? "")).toolCalls[0]?.result).toBe("Answered: true");
  });

  it("that throws reports the stack of its own process", async () => {
    const stacks: unknown[] = [];
    const hooks: Hooks = { onError: (error) => void stacks.push((error as Error).stack) };
    const result = await callTool(tools.fail, {}, { hooks });
    expect(stacks).toEqual([expect.stringMatching(/No such invoice.*isolated-tools\.ts/s)]);
    expect(JSON.stringify(result)).not.toContain("isolated-tools");
  });

  it("reads results of its session", async () => {
    const store = memory();
    await store.create("s");
    const handle = await store.putBlob("s", { mediaType: "text/plain", data: "Kept." });
    expect((await callTool(tools.read, { handle }, { store }))?.result).toBe("Kept.");
  });

  it("does not write to the standard output, which may be a protocol", async () => {
    expect((await callTool(tools.print))?.result).toBe("Printed.");
    expect(write.mock.calls.map(([chunk]) => String(chunk)).join("")).toMatch(/^This must not be/);
  });

  it("has the limit of memory that it asks for", async () => {
    const [, limitMb] = String((await callTool(tools.inspect))?.result)
      .split(" ")
      .map(Number);
    // The old generation, and a young one of at most a fifth of that.
    expect(limitMb).toBeGreaterThanOrEqual(50);
    expect(limitMb).toBeLessThan(65);
  });

  it("can be renamed and quarantined", async () => {
    const renamed: Tool = { ...tools.stream, name: "renamed" };
    expect((await callTool(renamed))?.result).toBe("one two");
    const output = {
      type: "object",
      properties: { pid: { type: "number" } },
      required: ["pid"],
      additionalProperties: false,
    } as const;
    const model = scriptedModel(({ history }) => {
      const [pid] = /\d+/.exec(JSON.stringify(history)) ?? [];
      return { text: JSON.stringify({ pid: Number(pid) }) };
    });
    const call = await callTool(quarantine(tools.inspect, { output, model, question: "Which process?" }));
    const { pid } = call?.data as { pid: number };
    expect(pid).toBeGreaterThan(0);
    expect(pid).not.toBe(process.pid);
  });

  it("says how to fix a tool that its process cannot find, and a context that cannot be sent", async () => {
    expect(await callTool(tools.createHidden())).toMatchObject({
      error: {
        code: "invalid_definition",
        message: expect.stringMatching(
          /isolated-tools\.ts" does not define the isolated tool "hidden"\. Set/,
        ),
      },
    });
    const circular: { self?: object } = {};
    circular.self = circular;
    const call = await callTool(tools.double, { value: 1 }, { context: circular });
    expect(call?.error?.message).toMatch(/^The `context` of the run cannot be sent to the isolated tool/);
  });

  it("ends with the process of its run, even while it blocks", async () => {
    const program = `
      import { block } from ${JSON.stringify(import.meta.resolve("./fixtures/isolated-tools.ts"))};
      import { executeIsolated } from ${JSON.stringify(import.meta.resolve("./isolated-call.ts"))};
      const progress = (pid) => console.log(pid);
      const { signal } = new AbortController();
      await executeIsolated(block, {}, { signal, answers: [], progress });`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program]);
    const pid = await new Promise<number>((resolve) => {
      createInterface(parent.stdout).once("line", (line) => resolve(Number(line)));
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe("isolate", () => {
  it.each([
    ["yes", "isolate"],
    [{ memoryMb: 1 }, "isolate"],
    [{ module: "./tools.ts" }, "isolate"],
    [{ timeoutMs: 1 }, "isolate"],
  ])("refuses %j", (isolate, field) => {
    const define = () =>
      defineTool({ name: "x", description: "", input: {}, isolate: isolate as never, execute: () => "" });
    expect(define).toThrow(new RegExp(`^${field} of the tool "x" cannot be .*import\\.meta\\.url`));
  });

  it("refuses a tool that the client runs", () => {
    expect(() => defineTool({ name: "x", description: "", input: {}, isolate: true })).toThrow(
      'The tool "x" has no `execute`: the client runs it, so it cannot be isolated.',
    );
  });
});

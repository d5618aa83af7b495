import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentTool } from "../features/nested/agent-tool.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { ErrorSource } from "../kernel/io.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { fromGenerate } from "../models/from-generate.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { collect } from "../testing/collect.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { Result } from "./result.ts";
import { run } from "./run.ts";

type Report = { readonly error: unknown; readonly source: ErrorSource };

function createReports() {
  const reports: Report[] = [];
  const hooks = { onError: (error: unknown, source: ErrorSource) => void reports.push({ error, source }) };
  return { reports, hooks };
}

/** Appears in the stack of an error that this function throws, and nowhere else. */
function canaryFrame(message = "Cannot read properties of undefined"): never {
  throw new TypeError(message);
}

const noRetry = { retry: { maxAttempts: 1 }, modelRetry: { attempts: 1 } } as const;

const definition = { name: "look_up", description: "Looks something up.", input: z.object({}) };
const lookUp = (execute: () => unknown = canaryFrame) =>
  defineTool({ ...definition, effects: "none", execute });

function createAgent(tool = lookUp(), policy: PolicyOverrides = noRetry) {
  const model = scriptedModel([{ calls: [{ name: "look_up", id: "c1" }] }, { text: "It failed." }]);
  return { model, agent: defineAgent({ name: "guide", model, tools: [tool], policy }) };
}

function getCause(result: Result): unknown {
  try {
    return result.orThrow();
  } catch (thrown) {
    return (thrown as Error).cause;
  }
}

describe("what a tool or a model throws", () => {
  it("reaches `onError` with its stack, and names the call", async () => {
    const { reports, hooks } = createReports();
    const { runId, sessionId } = await run(createAgent().agent, "Look", { hooks });
    const source = { type: "tool", runId, sessionId, agent: "guide", name: "look_up", callId: "c1" };
    expect(reports).toEqual([{ error: expect.any(TypeError), source }]);
    expect((reports[0]?.error as Error).stack).toContain("canaryFrame");
  });

  it("reaches `onError` once per attempt, also from a generator, an approval and a schema", async () => {
    const output = lookUp(async function* () {
      yield "a";
      canaryFrame();
    });
    const approval = defineTool({
      ...definition,
      effects: "send",
      needsApproval: () => canaryFrame(),
      execute: () => "a",
    });
    const input = z.object({}).refine(() => canaryFrame());
    const schema = defineTool({ ...definition, effects: "none", input, execute: () => "a" });
    const counts = [lookUp(), output, approval, schema].map(async (tool) => {
      const { reports, hooks } = createReports();
      await run(createAgent(tool, { retry: { maxAttempts: 2, baseMs: 0 } }).agent, "Look", { hooks });
      expect(reports.every(({ error }) => error instanceof TypeError)).toBe(true);
      return reports.length;
    });
    expect(await Promise.all(counts)).toEqual([2, 2, 1, 1]);
  });

  it("reaches `onError` from a nested run, with that run's id", async () => {
    const { reports, hooks } = createReports();
    const inner = createAgent().agent;
    const model = scriptedModel([
      { calls: [{ name: "guide", input: { prompt: "Look" } }] },
      { text: "Done." },
    ]);
    const outer = defineAgent({ name: "outer", model, tools: [agentTool(inner)] });
    const { runId } = await run(outer, "Go", { hooks });
    expect(reports.map(({ source }) => source.agent)).toEqual(["guide"]);
    expect(reports[0]?.source.runId).toMatch(new RegExp(`^${runId}~`));
  });

  it("of a model is the cause of the error that `orThrow` throws", async () => {
    const { reports, hooks } = createReports();
    const agent = defineAgent({ name: "guide", model: fromGenerate(() => canaryFrame(), "own") });
    const result = await run(agent, "Hi", { hooks, policy: noRetry });
    expect(getCause(result)).toBe(reports.at(-1)?.error);
    expect((getCause(result) as Error).stack).toContain("canaryFrame");
    expect(reports[0]?.source).toMatchObject({ type: "model", name: "own", runId: result.runId });
  });

  it("is masked in `onError` and in `orThrow`, also in a frozen error", async () => {
    const secret = "sk-proj-canary-0123456789abcdef";
    const frozen = Object.freeze(new TypeError(`No ${secret}`));
    for (const fail of [() => canaryFrame(`No ${secret}`), () => Promise.reject(frozen)]) {
      const { reports, hooks } = createReports();
      const agent = defineAgent({ name: "guide", model: fromGenerate(fail) });
      const result = await run(agent, "Hi", { hooks, secrets: [secret], policy: noRetry });
      const errors = [reports[0]?.error, getCause(result)] as Error[];
      for (const { message, stack } of errors) expect(`${message}${stack}`).not.toContain(secret);
      expect(errors[0]?.message).toBe("No ***");
    }
  });

  it("is not reported if a hook refuses the call by throwing", async () => {
    const { reports, hooks } = createReports();
    await run(createAgent().agent, "Look", { hooks: { ...hooks, onBeforeTool: () => canaryFrame() } });
    expect(reports).toEqual([]);
  });

  it("does not change the run if `onError` throws or rejects", async () => {
    for (const onError of [() => canaryFrame(), () => Promise.reject(new Error("no"))]) {
      const { agent } = createAgent();
      const result = await run(agent, "Look", { hooks: { onError } });
      expect(result.text).toBe("It failed.");
    }
  });

  it("leaves no stack in the events, the store, the result or the requests (A94)", async () => {
    const folder = await mkdtemp(join(tmpdir(), "capstan-stacks-"));
    const file = join(folder, "runs.db");
    const store = sqlite(file);
    const { model, agent } = createAgent();
    const tool = await collect(run(agent, "Look", { store, session: "s" }));
    const failing = defineAgent({ name: "guide", model: fromGenerate(() => canaryFrame()) });
    const failed = await collect(run(failing, "Hi", { store, session: "t", policy: noRetry }));
    await store.close();
    const stored = (await readFile(file)).toString("latin1");
    const sent = JSON.stringify([tool, failed, model.requests]);
    await rm(folder, { recursive: true });
    expect(stored + sent).toContain("Cannot read properties of undefined");
    expect(stored + sent).not.toContain("canaryFrame");
    expect(stored + sent).not.toContain("thrown-errors.test");
  });
});

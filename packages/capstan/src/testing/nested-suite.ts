import { expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool, type ToolContext } from "../kernel/tool.ts";
import type { ResumeOptions } from "../runtime/open-run.ts";
import type { Result } from "../runtime/result.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import { breakAppend } from "./break-append.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { type ScriptedCall, type ScriptedStep, scriptedModel } from "./scripted-model.ts";

type Engine = {
  readonly store: Store;
  start(agent: Agent, input: string, options: ResumeOptions & { session: string; runId: string }): Run;
  resume(agent: Agent, runId: string, options: ResumeOptions): Run;
};

export type NestedSuiteOptions = {
  make(): Promise<Engine>;
  close(engine: Engine): Promise<void>;
  readonly isRemote: boolean;
  /** After how many of the facts to kill, at most. */
  readonly kills: number;
};

const session = "session";
const runId = "run";
/** An engine compares the expiry of approvals with its own clock. */
export const createClock = (): FakeClock => fakeClock({ start: Date.now(), skipUpToMs: 30_000 });

/** The contract of every engine for sub-agents: part of `engineSuite`. */
export function nestedSuite({ make, close, isRemote, kills }: NestedSuiteOptions): void {
  it("killed after any fact of runs nested three deep, some in parallel, resumes each of them", async () => {
    const engine = await make();
    const whole = await runApproving(
      engine.start(createNestedAgents([]), "Go.", { session, runId, clock: createClock() }),
    );
    const facts = await engine.store.read(session);
    expectCompleteRuns(facts, whole);
    await close(engine);
    for (const kill of chooseKills(facts.length, kills)) {
      const stored = facts.slice(0, kill);
      const executed: string[] = [];
      const second = await make();
      await seedSession(second.store, stored);
      const result = await runApproving(
        second.resume(createNestedAgents(executed), runId, { clock: createClock() }),
      );
      const resumed = await second.store.read(session);
      expect(resumed.slice(0, kill)).toEqual(stored);
      expectCompleteRuns(resumed, result);
      const expected = { status: "done", text: whole.text, usage: whole.usage };
      expect(result, `killed after fact ${kill}`).toMatchObject(expected);
      expect(new Set(resumed.map((fact) => fact.runId))).toEqual(new Set(facts.map((fact) => fact.runId)));
      expectNothingRepeated(stored, executed);
      await close(second);
    }
  });

  it("rejects the whole run without a result when the journal of a nested run fails", async () => {
    for (let appends = 3; appends < 14; appends++) {
      const engine = await make();
      const { whenBroken, repair } = breakAppend(engine.store, appends);
      const run = engine.start(createNestedAgents([]), "Go.", { session, runId, clock: createClock() });
      if (isRemote) await whenBroken;
      else await expect(run).rejects.toThrow("disk gone");
      repair();
      const before = await engine.store.read(session);
      expect(before.some((fact) => fact.type === "done" || fact.type === "cancel_requested")).toBe(false);
      const result = await runApproving(
        engine.resume(createNestedAgents([]), runId, { clock: createClock() }),
      );
      expectCompleteRuns(await engine.store.read(session), result);
      await close(engine);
    }
  });
}

/** Chooses each step by the history alone, so that any process can resume. */
function createStepModel(steps: readonly ScriptedStep[]): ReturnType<typeof scriptedModel> {
  return scriptedModel(({ history }) => {
    const said = history.filter((entry) => entry.type === "assistant").length;
    return steps[said] ?? { text: "over" };
  });
}

/** `main` calls two experts in parallel; each calls a scout, which reads, writes, and needs approval for more. */
export function createNestedAgents(executed: string[]): Agent {
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: name,
      input: { type: "object", properties: {} },
      ...more,
      execute: (_: object, { idempotencyKey }: ToolContext) => {
        executed.push(idempotencyKey);
        return `${name} is done`;
      },
    });
  const call = (name: string, input: ScriptedCall["input"] = {}): ScriptedCall => ({ name, input });
  const scout = defineAgent({
    name: "scout",
    model: createStepModel([
      { calls: [call("look"), call("write")] },
      { calls: [call("guarded")] },
      { text: "Scouted." },
    ]),
    tools: [
      tool("look", { effects: "none" }),
      tool("write", { effects: "state" }),
      tool("guarded", { effects: "state", needsApproval: true }),
    ],
  });
  const expert = defineAgent({
    name: "expert",
    model: createStepModel([
      { text: "I ask.", calls: [call("scout", { prompt: "Scout." })] },
      { text: "Known." },
    ]),
    tools: [agentTool(scout)],
  });
  const asks = [call("expert", { prompt: "One." }), call("expert", { prompt: "Two." })];
  const model = createStepModel([{ calls: asks }, { text: "All known." }]);
  return defineAgent({ name: "main", model, tools: [agentTool(expert)] });
}

export async function runApproving(run: Run): Promise<Result> {
  for (;;) {
    const result = await run;
    if (result.status !== "waiting") return result;
    expect(result.pending.length).toBeGreaterThan(0);
    for (const { callId } of result.pending) run.approve(callId);
  }
}

export async function seedSession(store: Store, facts: readonly Fact[]): Promise<void> {
  const lease = await store.lease(facts[0]?.sessionId ?? session, "seed", 60_000);
  if (!lease) throw new Error("the session of a new store is taken");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
}

/** Checks that every run ends once and last, no agent call is interrupted, and usage is counted once. */
function expectCompleteRuns(facts: readonly Fact[], { usage }: Result): void {
  const runs = new Map<string, Fact[]>();
  for (const fact of facts) runs.set(fact.runId, [...(runs.get(fact.runId) ?? []), fact]);
  expect(runs.size).toBe(5);
  for (const own of runs.values()) {
    expect(own[0]?.type).toBe("run_start");
    expect(own.filter((fact) => fact.type === "done")).toEqual([own.at(-1)]);
    const parents = new Set(own.map((fact) => `${fact.parentRunId} ${fact.parentCallId}`));
    expect(parents.size).toBe(1);
  }
  for (const fact of facts)
    if (fact.type === "tool_call_result" && (fact.name === "expert" || fact.name === "scout"))
      expect(fact).toMatchObject({ status: "ok" });
  const messages = facts.filter((fact) => fact.type === "message").length;
  expect(usage).toEqual({ inputTokens: 10 * messages, outputTokens: 5 * messages });
}

/** Chooses at most so many of the facts after which to kill, at even distances from a random first one. */
export function chooseKills(facts: number, kills: number): readonly number[] {
  const distance = Math.max(1, Math.ceil(facts / kills));
  const first = 1 + Math.floor(Math.random() * distance);
  return Array.from({ length: facts }, (_, index) => first + index * distance).filter((kill) => kill < facts);
}

/** Checks that no call with a result runs again, and no started call that must not be repeated. */
export function expectNothingRepeated(stored: readonly Fact[], executed: readonly string[]): void {
  expect(new Set(executed).size).toBe(executed.length);
  for (const fact of stored) {
    const isOver =
      fact.type === "tool_call_result" || (fact.type === "tool_call_start" && fact.name !== "look");
    if (isOver) expect(executed).not.toContain(`${fact.runId}/${fact.id}`);
  }
}

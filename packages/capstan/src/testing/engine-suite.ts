import { assert, asyncProperty } from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { getCalls } from "../kernel/history.ts";
import { defineTool } from "../kernel/tool.ts";
import { fold } from "../runtime/facts.ts";
import type { ResumeOptions } from "../runtime/open-run.ts";
import type { Result } from "../runtime/result.ts";
import type { Run } from "../runtime/run-handle.ts";
import type { Store } from "../runtime/store.ts";
import { backgroundSuite } from "./background-suite.ts";
import { breakAppend } from "./break-append.ts";
import { fakeClock } from "./fake-clock.ts";
import { nestedSuite } from "./nested-suite.ts";
import {
  answerText,
  arbitraryRunPlan,
  createExecutionRecord,
  createPlannedAgent,
  createSimulatedUser,
  type ExecutionRecord,
  getMaxExecutions,
  isRepeatable,
  type RunPlan,
  runToEnd,
  steerText,
} from "./run-plan.ts";
import { scriptedModel } from "./scripted-model.ts";
import { isValidHistory } from "./valid-history.ts";

export { adaptEngine, type TestedEngineOptions } from "./engine-under-test.ts";

/** An engine under test: starts runs on a store and resumes them after a crash. */
export type EngineUnderTest = {
  readonly store: Store;
  start(agent: Agent, input: string, options: ResumeOptions & { session: string; runId: string }): Run;
  resume(agent: Agent, runId: string, options: ResumeOptions): Run;
  close?(): Promise<void>;
};

const isLong = typeof process !== "undefined" && process.env.CAPSTAN_LONG === "1";
const session = "session";
const runId = "run";

export type EngineSuiteOptions = {
  /**
   * Set if handles follow runs that execute elsewhere: messages take time to arrive, and a store that fails delays a run
   * instead of rejecting it.
   */
  readonly isRemote?: boolean;
  /** The share of the random runs to execute, for engines that are slow to start. Default: 1. */
  readonly share?: number;
};

/** The contract of every engine. A test of an engine is one line: `engineSuite("acme", () => acme(…))`. */
export function engineSuite(
  name: string,
  create: () => EngineUnderTest | Promise<EngineUnderTest>,
  { isRemote = false, share = 1 }: EngineSuiteOptions = {},
): void {
  const countRuns = (long: number, short: number) => Math.max(1, Math.round(share * (isLong ? long : short)));
  const arbitraryPlan = isRemote
    ? arbitraryRunPlan.map((plan) => ({ ...plan, steerAt: null, cancelAt: null }))
    : arbitraryRunPlan;
  const engines = new Set<EngineUnderTest>();
  const make = async () => {
    const engine = await create();
    engines.add(engine);
    return engine;
  };
  /** Tests that create many engines close each: those that are left poll their stores. */
  const close = async (engine: EngineUnderTest) => {
    engines.delete(engine);
    await engine.close?.();
  };
  const start = async (plan: RunPlan, world: ExecutionRecord) => {
    const engine = await make();
    const user = createSimulatedUser(plan);
    const run = engine.start(createPlannedAgent(plan, world), "Go.", {
      session,
      runId,
      clock: createQuickClock(),
      hooks: user,
    });
    user.join(run);
    const ended = { ...(await runToEnd(plan, run)), facts: await engine.store.read(session) };
    await close(engine);
    return ended;
  };
  const resumeFrom = async (plan: RunPlan, stored: readonly Fact[], world: ExecutionRecord) => {
    const engine = await make();
    await seedStore(engine.store, stored);
    const user = createSimulatedUser(plan, stored);
    const run = engine.resume(createPlannedAgent(plan, world), runId, {
      clock: createQuickClock(),
      hooks: user,
    });
    user.join(run);
    const ended = { ...(await runToEnd(plan, run)), facts: await engine.store.read(session) };
    await close(engine);
    return ended;
  };

  describe(`the engine ${name}`, () => {
    afterEach(async () => {
      await Promise.all([...engines].map(close));
    });

    it("for any model, tools and user: one result per call, one end, no turn beyond the limit", async () => {
      await assert(
        asyncProperty(arbitraryPlan, async (plan) => {
          const world = createExecutionRecord();
          const { facts, events, result } = await start(plan, world);
          expect(world.invalidHistories).toEqual([]);
          expectOrder(facts, events, plan);
          expect(isValidHistory(result.history)).toBe(true);
          if (result.status === "done") expect(result.text).toBe(answerText);
          expect(result.text).not.toBe("");
        }),
        { numRuns: countRuns(5000, 150) },
      );
    });

    it("killed after any fact and resumed, reaches the same end and repeats no finished effect", async () => {
      await assert(
        asyncProperty(arbitraryPlan, async (plan) => {
          const whole = await start(plan, createExecutionRecord());
          for (let kill = 1; kill <= whole.facts.length; kill++) {
            const stored = whole.facts.slice(0, kill);
            const world = createExecutionRecord();
            const resumed = await resumeFrom(plan, stored, world);
            expectOrder(resumed.facts, resumed.events, plan);
            expect(isValidHistory(resumed.result.history)).toBe(true);
            expect(world.invalidHistories).toEqual([]);
            expect(resumed.facts.slice(0, kill)).toEqual(stored);
            expectNothingRepeated(plan, stored, world);
            expectSameEnd(whole.result, resumed.result);
          }
        }),
        { numRuns: countRuns(1000, 25) },
      );
    });

    it("folds the results of a turn to the same state in any order", async () => {
      await assert(
        asyncProperty(arbitraryPlan, async (plan) => {
          const { facts } = await start(plan, createExecutionRecord());
          expect(summarizeState(reverseResults(facts))).toEqual(summarizeState(facts));
        }),
        { numRuns: countRuns(2000, 50) },
      );
    });

    it("emits the calls of a turn in call order before any result", async () => {
      const engine = await make();
      const agent = createFourCallAgent(async () => "ok");
      const { events } = await runToEnd(
        noPlan,
        engine.start(agent, "Go.", { session, runId, clock: fakeClock() }),
      );
      const seen = events.flatMap((event) =>
        event.type === "tool_call_start" || event.type === "tool_call_result" ? [event.type] : [],
      );
      expect(seen.slice(0, 4)).toEqual(Array(4).fill("tool_call_start"));
      const starts = events.flatMap((event) => (event.type === "tool_call_start" ? [event.id] : []));
      expect(starts).toEqual(["call_1_0", "call_1_1", "call_1_2", "call_1_3"]);
    });

    it("killed after three of four parallel calls, repeats none of the three", async () => {
      const engine = await make();
      const ran: string[] = [];
      const hanging = createFourCallAgent(async (n) =>
        n === 2 ? new Promise(() => undefined) : `${ran.push(`a${n}`)}`,
      );
      const first = engine.start(hanging, "Go.", { session, runId, clock: fakeClock() });
      const facts: Fact[] = [];
      for await (const event of first) {
        if (isFact(event)) facts.push(event);
        if (facts.filter((fact) => fact.type === "tool_call_result").length === 3) break;
      }
      const second = await make();
      await seedStore(second.store, facts);
      const agent = createFourCallAgent(async (n) => `${ran.push(`b${n}`)}`);
      const result = await second.resume(agent, runId, { clock: fakeClock() });
      expect(result.status).toBe("done");
      expect(ran).toEqual(["a0", "a1", "a3", "b2"]);
      first.cancel();
    });

    nestedSuite({ make, close, isRemote, kills: countRuns(5000, 600) });
    backgroundSuite({ make, close, isRemote, kills: countRuns(5000, 600) });

    it("rejects the run without a result when its journal fails; resumed, the run ends", async () => {
      for (const appends of [1, 2, 3, 4, 5]) {
        const engine = await make();
        const { whenBroken, repair } = breakAppend(engine.store, appends);
        const run = engine.start(
          createFourCallAgent(async () => "ok"),
          "Go.",
          { session, runId, clock: fakeClock() },
        );
        if (isRemote) await whenBroken;
        else await expect(run).rejects.toThrow("disk gone");
        repair();
        const before = await engine.store.read(session);
        expect(
          before.some((fact) => fact.type === "done" || (fact.type === "tool_call_result" && fact.is_error)),
        ).toBe(false);
        const result = await engine.resume(
          createFourCallAgent(async () => "ok"),
          runId,
          { clock: fakeClock() },
        );
        expect(result).toMatchObject({ status: "done", text: "All four." });
        await close(engine);
      }
    });
  });
}

/** Retry delays pass at once; timeouts never fire. An engine compares the expiry of approvals with its own clock. */
const createQuickClock = () => fakeClock({ start: Date.now(), skipUpToMs: 30_000 });

const noPlan: RunPlan = {
  turns: [],
  maxTurns: 1,
  sequential: false,
  finalTurn: "no-tools",
  handoff: { mode: "return", onDenied: "tell-model" },
  steerAt: null,
  cancelAt: null,
};

function createFourCallAgent(work: (n: number) => Promise<string>): Agent {
  const tool = defineTool({
    name: "work",
    description: "works",
    effects: "none",
    input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    execute: ({ n }) => work(n),
  });
  const calls = [0, 1, 2, 3].map((n) => ({ name: "work", input: { n } }));
  const model = scriptedModel(({ history }) => (history.length === 1 ? { calls } : { text: "All four." }));
  return defineAgent({ name: "four", model, tools: [tool] });
}

async function seedStore(store: Store, facts: readonly Fact[]): Promise<void> {
  const lease = await store.lease(session, "seed", 60_000);
  if (!lease) throw new Error("the session of a new store is taken");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
}

/** Checks that `done` comes once and last, turns stay within the limit, and every call is settled once. */
function expectOrder(facts: readonly Fact[], events: readonly Event[], plan: RunPlan): void {
  expect(facts.filter((fact) => fact.type === "done")).toHaveLength(1);
  expect(facts.at(-1)?.type).toBe("done");
  const last = events.at(-1);
  if (last) expect(last.type).toBe("done");
  expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, index) => index + 1));
  for (const fact of facts)
    if (fact.type === "turn_start") expect(fact.turn).toBeLessThanOrEqual(plan.maxTurns);
  const calls = facts.flatMap((fact) =>
    fact.type === "message" ? getCalls(fact.entry).map((call) => call.id) : [],
  );
  const results = facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact.id] : []));
  expect(results.toSorted()).toEqual(calls.toSorted());
  expect(new Set(calls).size).toBe(calls.length);
}

/** Checks that no call with a result runs again, and no started call that must not be repeated. */
function expectNothingRepeated(plan: RunPlan, stored: readonly Fact[], world: ExecutionRecord): void {
  for (const fact of stored) {
    if (fact.type !== "tool_call_start") continue;
    const { n } = fact.arguments as { n?: number };
    if (n === undefined) continue;
    const finished = stored.some((other) => other.type === "tool_call_result" && other.id === fact.id);
    const isCutOff = isInterruptedCall(stored, fact.id) && !isRepeatable(plan, n);
    if (finished || isCutOff) expect(world.executed.get(n) ?? 0).toBe(0);
  }
  for (const [n, times] of world.executed) {
    if (!isRepeatable(plan, n)) expect(times).toBeLessThanOrEqual(getMaxExecutions(plan, n));
    expect(world.keys.get(n)?.size).toBe(1);
  }
}

/** True if the call started more often than it asked a question. */
function isInterruptedCall(stored: readonly Fact[], callId: string): boolean {
  const begins = stored.filter((fact) => fact.type === "tool_call_start" && fact.id === callId);
  const questions = stored.filter(
    (fact) => fact.type === "approval_required" && fact.question && fact.callId === callId,
  );
  return begins.length > questions.length;
}

function expectSameEnd(whole: Result, resumed: Result): void {
  expect(resumed.status).toBe(whole.status);
  if (whole.status === "done") expect(resumed.text).toBe(whole.text);
  const ends = ({ toolCalls }: Result) => toolCalls.map(({ id, name, status }) => ({ id, name, status }));
  const said = [...whole.history, ...resumed.history];
  const isSteered = said.some((entry) => entry.type === "user" && entry.content === steerText);
  // Only a crash during a non-repeatable call may be visible.
  const isCutOff = resumed.toolCalls.some((call) => call.status === "interrupted" && call.name !== "handoff");
  if (!isCutOff && whole.status !== "cancelled") {
    expect(ends(resumed)).toEqual(ends(whole));
    // Steering at a different moment ends up at a different position.
    if (!isSteered) expect(resumed.history).toEqual(whole.history);
  }
}

/** The same log with the results of each batch of parallel calls reversed. */
function reverseResults(facts: readonly Fact[]): Fact[] {
  const order: Fact[] = [];
  let batch: Fact[] = [];
  for (const fact of facts) {
    if (fact.type === "tool_call_result") batch.push(fact);
    else {
      order.push(...batch.reverse(), fact);
      batch = [];
    }
  }
  return [...order, ...batch.reverse()].map((fact, index) => ({ ...fact, seq: index + 1 }));
}

function summarizeState(facts: readonly Fact[]): unknown {
  const { history, fragments, callIds, run } = fold(session, facts);
  return { history, fragments, callIds, run: { ...run, currentTurn: undefined, lastMs: 0, waitedMs: 0 } };
}

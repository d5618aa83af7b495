import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  option,
  record,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { defineAgent, indexAgents } from "../../kernel/agent.ts";
import { type Effect, toIntent } from "../../kernel/effect.ts";
import type { Fact, FactBody } from "../../kernel/event.ts";
import { type Entry, getCalls } from "../../kernel/history.ts";
import { type Policy, resolvePolicy } from "../../kernel/policy.ts";
import { createState } from "../../kernel/state.ts";
import { defineTool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { apply, createFactId } from "../../runtime/facts.ts";
import type { Result } from "../../runtime/result.ts";
import { resume, run } from "../../runtime/run.ts";
import type { Store } from "../../runtime/store.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

type Plan = {
  /** For each turn: the characters of the model's text and of each result. */
  readonly rounds: readonly { readonly words: number; readonly results: readonly number[] }[];
  readonly contextBudget: number | "unlimited";
  readonly historyLimit: number | "unlimited";
  readonly memory: Policy["memory"];
  /** Maximum characters the model accepts. */
  readonly room: number | null;
  readonly summaries: "fine" | "endless" | "failing";
  readonly counts: boolean;
};

const size = constantFrom(0, 5, 60, 400, 1500);
const plans: Arbitrary<Plan> = record({
  rounds: array(record({ words: size, results: array(size, { minLength: 1, maxLength: 3 }) }), {
    maxLength: 7,
  }),
  contextBudget: constantFrom<number | "unlimited">(20, 150, 400, 800, "unlimited"),
  historyLimit: option(integer({ min: 1, max: 9 }), { nil: "unlimited" as const }),
  memory: constantFrom("session", "session", "run", "client"),
  room: option(constantFrom(1200, 2500, 4000), { nil: null }),
  summaries: constantFrom("fine", "fine", "endless", "failing"),
  counts: boolean(),
});

/** The agent of a plan. Its messages depend only on the request, as in a separate process. */
function createPlannedAgent(plan: Plan, sent: (readonly Entry[])[] = []) {
  const model = scriptedModel((request) => {
    const { instructions, history } = request;
    if (instructions.startsWith("You summarize")) {
      if (plan.summaries === "failing") return { error: "model_rejected" };
      const length = JSON.stringify(history).length;
      return { text: plan.summaries === "endless" ? "s".repeat(20_000) : `Summary of ${length}.` };
    }
    sent.push(history);
    const characters = JSON.stringify(history).length;
    if (plan.room !== null && characters > plan.room) return { error: "context_overflow" };
    const usage = plan.counts ? { inputTokens: Math.ceil(characters / 3) + 50, outputTokens: 5 } : null;
    const next = findNextTurn(history);
    const round = plan.rounds[next];
    if (!round) return { text: "Done.", usage };
    const calls = round.results.map((length) => ({ name: "look", input: { round: next, length } }));
    return { text: "w".repeat(round.words), calls, usage };
  });
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: ({ length }: { length?: number }) => "r".repeat(length ?? 0),
  });
  const { contextBudget, historyLimit, memory: kind } = plan;
  const policy = { contextBudget, historyLimit, memory: kind, maxTurns: 20, repetition: { stopAt: 99 } };
  return defineAgent({ name: "planned", model, tools: [look], policy });
}

/** Returns the number of the next turn after the last user message; those turns are always in the history. */
function findNextTurn(history: readonly Entry[]): number {
  const since = history.slice(history.findLastIndex(({ type }) => type === "user") + 1);
  const calls = since.flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
  return Number(calls.at(-1)?.input.round ?? -1) + 1;
}

/** Blobs have the same handle in every copy of a session. */
const createStore = (): Store => ({ ...memory(), putBlob: async () => "blob" });

const options = () => ({ store: createStore(), session: "s", clock: fakeClock({ skipUpToMs: 60_000 }) });

function expectValid(history: readonly Entry[]): void {
  expect(history[0]?.type === "user" || history[0]?.type === "summary").toBe(true);
  let open: string[] = [];
  for (const entry of history) {
    if (entry.type === "result") expect(entry.callId).toBe(open.shift());
    else {
      expect(open).toEqual([]);
      open = entry.type === "assistant" ? getCalls(entry).map(({ id }) => id) : [];
    }
  }
  expect(open).toEqual([]);
}

/** A copy of a session's first facts. */
async function copyStore(facts: readonly Fact[]): Promise<Store> {
  const store = createStore();
  const lease = await store.lease("s", "copy", 1000);
  if (!lease) throw new Error("The copy has no lease.");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
  return store;
}

describe("whatever the model, the tools and the budget", () => {
  it("every history sent to a model is valid, and the run ends (S2-31, S2-32, C-11)", async () => {
    await assert(
      asyncProperty(plans, async (plan) => {
        const sent: (readonly Entry[])[] = [];
        const about = options();
        for (const question of ["One?", "Two?", "Three?"]) {
          const result = await run(createPlannedAgent(plan, sent), question, about);
          expect(["done", "failed"]).toContain(result.status);
          if (result.status === "failed") expect(result.error?.code).toBe("context_overflow");
        }
        for (const history of sent) expectValid(history);
      }),
      { numRuns: 150 },
    );
  });

  it("a run stopped after any fact and resumed ends with the same history", async () => {
    await assert(
      asyncProperty(plans, async (plan) => {
        const about = options();
        await run(createPlannedAgent(plan), "One?", about);
        const { result } = await collect(run(createPlannedAgent(plan), "Two?", about));
        const facts = await about.store.read("s");
        const start = facts.findLastIndex(({ type }) => type === "run_start");
        for (let count = start + 1; count <= facts.length; count++) {
          const clock = fakeClock({ skipUpToMs: 60_000 });
          const store = await copyStore(facts.slice(0, count));
          const from = { store, runId: result.runId };
          const resumed: Result = await resume(createPlannedAgent(plan), from, { clock });
          expect(resumed.history).toEqual(result.history);
          expect(resumed.context).toEqual(result.context);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("without a limit, nothing is dropped and there is no warning", async () => {
    await assert(
      asyncProperty(plans, async (plan) => {
        const free: Plan = {
          ...plan,
          contextBudget: "unlimited",
          historyLimit: "unlimited",
          room: null,
          memory: "session",
        };
        const about = options();
        const { facts } = await collect(run(createPlannedAgent(free), "One?", about));
        const result = await run(createPlannedAgent(free), "Two?", about);
        expect(facts.filter(({ type }) => type.startsWith("compact"))).toEqual([]);
        const calls = plan.rounds.reduce((sum, { results }) => sum + results.length, 0);
        expect(result.history).toHaveLength(2 * (2 + plan.rounds.length + calls));
      }),
      { numRuns: 25 },
    );
  });
});

/** Counts how often results are read in a run of `turns` turns that only folds facts and decides. */
function countReads(
  turns: number,
  contextBudget: Policy["contextBudget"],
): { looks: number; summaries: number } {
  const agents = indexAgents(
    defineAgent({
      name: "counted",
      model: scriptedModel([]),
      tools: [
        defineTool({
          name: "look",
          description: "",
          input: { type: "object" },
          effects: "none",
          execute: () => "",
        }),
      ],
    }),
  );
  const state = createState("s");
  const policy = resolvePolicy({ contextBudget, maxTurns: "unlimited" });
  let looks = 0;
  let summaries = 0;
  const say = (body: FactBody) => {
    const about = { runId: "r", sessionId: "s", agent: "counted", turn: 0, at: 0 };
    const seq = state.seq + 1;
    apply(state, { ...about, ...body, seq, id: createFactId(body, { runId: "r", retries: 0 }, `${seq}`) });
  };
  const facts = (effect: Effect): readonly FactBody[] => {
    switch (effect.type) {
      case "note":
        return effect.facts;
      case "turn_summary":
        return [{ type: "turn_summary", turn: effect.turn, text: "" }];
      case "summary": {
        summaries += 1;
        const { number, until } = effect;
        return [{ type: "compacted", number, until, text: "Short.", model: "m" }];
      }
      case "model": {
        const input = { turn: effect.turn };
        const parts = [{ type: "call", id: `c${effect.turn}`, name: "look", input }] as const;
        const usage = { inputTokens: 1, outputTokens: 1, estimated: true };
        return [
          {
            type: "message",
            entry: { type: "assistant", parts },
            model: "m",
            usage,
            ms: 0,
            stopReason: "tool_calls",
          },
        ];
      }
      case "tool": {
        const text = `${effect.callId} ${"r".repeat(300)}`;
        const part = {
          type: "text" as const,
          get text() {
            looks += 1;
            return text;
          },
        };
        const about = { is_error: false, status: "ok", attempts: 1, ms: 0 } as const;
        return [{ type: "tool_call_result", id: effect.callId, name: effect.name, result: [part], ...about }];
      }
      case "shorten":
        return [];
    }
  };
  say({ type: "run_start", input: [{ type: "user", content: "Go." }], policy, timeZone: "UTC" });
  while ((state.run?.turn ?? 0) < turns) {
    const decision = decide(agents, state);
    if (decision.type === "stop") throw new Error("It must not stop.");
    for (const effect of decision.effects)
      for (const body of [...toIntent(effect), ...facts(effect)]) say(body);
  }
  return { looks, summaries };
}

describe("the cost of measuring the context", () => {
  it.each([
    ["exceeded often", 500],
    ["exceeded sometimes", 2000],
    ["never passed", 10_000_000],
  ])("grows linearly with the turns when the budget is %s", (_, budget) => {
    const [some, many] = [countReads(200, budget), countReads(800, budget)];
    expect(many.summaries > 10).toBe(budget <= 2000);
    expect(many.looks).toBeLessThan(some.looks * 4.4);
    expect(many.looks).toBeLessThan(800 * 25);
  });

  it("is zero without a budget: each result is read once, to detect repetition", () => {
    expect(countReads(300, "unlimited").looks).toBe(299);
  });
});

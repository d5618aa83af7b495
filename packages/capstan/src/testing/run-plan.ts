import { type Arbitrary, array, boolean, constantFrom, integer, option, record } from "fast-check";
import { type Agent, defineAgent } from "../agent.ts";
import { AgentError } from "../errors.ts";
import { type Event, type Fact, isFact } from "../event.ts";
import type { Result } from "../result.ts";
import type { Run } from "../run-handle.ts";
import { defineTool, type Effects, type ToolContext } from "../tool.ts";
import { scriptedModel } from "./scripted-model.ts";

/** A run made up by chance: what the model says, what the tools do, what people do meanwhile. */
export type RunPlan = {
  readonly turns: readonly PlannedTurn[];
  readonly maxTurns: number;
  readonly sequential: boolean;
  readonly finalTurn: "no-tools" | "keep-tools";
  readonly steerAt: Moment | null;
  readonly cancelAt: Moment | null;
};

/** A place in a run that is the same after a crash. */
export type Moment = { readonly turn: number; readonly type: Fact["type"] };

export type PlannedTurn = {
  readonly words: boolean;
  /** The first request of this turn fails in a way that passes. */
  readonly flaky: boolean;
  readonly calls: readonly PlannedCall[];
};

export type PlannedCall = {
  readonly tool: string;
  /** `once`: fails at the first attempt of each process. */
  readonly outcome: "ok" | "throw" | "once";
  readonly agrees: boolean;
  readonly badArguments: boolean;
  /** The provider gives every call of the run this same id. */
  readonly sameId: boolean;
};

/** Which tools there are, and which of them may be performed again when a crash has left their end unknown. */
const kinds: {
  readonly [name: string]: {
    effects?: Effects;
    idempotent?: boolean;
    repeatable: boolean;
    asks?: boolean;
    /** How often it asks in the middle of a call. */
    questions?: number;
    client?: boolean;
  };
} = {
  look: { effects: "none", repeatable: true },
  write: { effects: "state", repeatable: false },
  keyed: { effects: "send", idempotent: true, repeatable: true },
  plain: { repeatable: false },
  guarded: { effects: "state", asks: true, repeatable: false },
  curious: { effects: "none", questions: 2, repeatable: true },
  formal: { effects: "state", asks: true, questions: 1, repeatable: false },
  page: { client: true, repeatable: true },
};

const moment: Arbitrary<Moment> = record({
  turn: integer({ min: 1, max: 5 }),
  type: constantFrom("turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"),
});

export const runPlan: Arbitrary<RunPlan> = record({
  turns: array(
    record({
      words: boolean(),
      flaky: boolean(),
      calls: array(
        record({
          tool: constantFrom(...Object.keys(kinds), "missing"),
          outcome: constantFrom("ok", "ok", "throw", "once"),
          agrees: boolean(),
          badArguments: constantFrom(false, false, false, true),
          sameId: boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { maxLength: 4 },
  ),
  maxTurns: integer({ min: 1, max: 6 }),
  sequential: boolean(),
  finalTurn: constantFrom("no-tools", "keep-tools"),
  steerAt: option(moment, { freq: 3 }),
  cancelAt: option(moment, { freq: 6 }),
});

export const answerText = "This is the answer.";

/** What the tools of one process have done. */
export type World = { readonly executed: Map<number, number>; readonly keys: Map<number, Set<string>> };

export function newWorld(): World {
  return { executed: new Map(), keys: new Map() };
}

/** The number of a planned call: its place in the plan, which is also in its input. */
function numberOf(turn: number, index: number): number {
  return turn * 10 + index;
}

function plannedCall(plan: RunPlan, number: number): PlannedCall | undefined {
  return plan.turns[Math.floor(number / 10)]?.calls[number % 10];
}

export function isRepeatable(plan: RunPlan, number: number): boolean {
  return kinds[plannedCall(plan, number)?.tool ?? ""]?.repeatable ?? true;
}

/** How often a call may be executed that is never repeated: once, and once more after each question. */
export function mostTimes(plan: RunPlan, number: number): number {
  return 1 + questionsOf(plannedCall(plan, number));
}

function questionsOf(call: PlannedCall | undefined): number {
  return kinds[call?.tool ?? ""]?.questions ?? 0;
}

/** The agent of a plan, in a process of its own: only `world` and the history tell it what has happened. */
export function plannedAgent(plan: RunPlan, world: World): Agent {
  const asked = new Set<number>();
  const model = scriptedModel((request) => {
    // A turn is known by what has been said before, as a real model would know it.
    const turn = request.history.filter((entry) => entry.type === "assistant").length;
    const planned = plan.turns[turn];
    if (!planned) return { text: answerText };
    const isFirst = !asked.has(turn);
    asked.add(turn);
    if (planned.flaky && isFirst) return { text: "half", finish: "none" };
    const calls = planned.calls.map((call, index) => ({
      name: call.tool,
      ...(call.sameId ? { id: "same" } : {}),
      ...(call.badArguments
        ? { arguments: `{"n":${numberOf(turn, index)}` }
        : { input: { n: numberOf(turn, index) } }),
    }));
    return { ...(planned.words && { text: `Working on ${turn}.` }), calls, split: 3 };
  });
  const tools = Object.entries(kinds).map(([name, kind]) =>
    defineTool({
      name,
      description: name,
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      ...(kind.effects && { effects: kind.effects }),
      ...(kind.idempotent && { idempotent: true }),
      ...(kind.asks && { needsApproval: true }),
      ...(!kind.client && {
        execute: (input: { n: number }, context: ToolContext) =>
          execute(plan, world, { n: input.n, ...context }),
      }),
    }),
  );
  const { maxTurns, finalTurn } = plan;
  const toolExecution = plan.sequential ? "sequential" : "parallel";
  return defineAgent({ name: "planned", model, tools, policy: { maxTurns, finalTurn, toolExecution } });
}

async function execute(
  plan: RunPlan,
  { executed, keys }: World,
  { n, idempotencyKey, answers }: { n: number } & Pick<ToolContext, "idempotencyKey" | "answers">,
): Promise<unknown> {
  const times = (executed.get(n) ?? 0) + 1;
  executed.set(n, times);
  keys.set(n, (keys.get(n) ?? new Set()).add(idempotencyKey));
  const call = plannedCall(plan, n);
  // Tools end in another order than they began.
  for (let wait = 0; wait < (n * 7) % 5; wait++) await Promise.resolve();
  if (call?.outcome === "throw" || (call?.outcome === "once" && times === 1))
    throw new AgentError("tool_failed", `no ${n}`);
  const number = answers.length;
  if (number < questionsOf(call)) {
    const schema = { type: "object", properties: { n: { const: n } }, required: ["n"] };
    return { ask: { message: `May I ${n}?`, schema, state: number } };
  }
  return number === 0 ? { done: n } : { done: n, answers };
}

/** The people of a plan: they steer and cancel at the moments the plan says, unless they did before the crash. */
export function meddler(
  plan: RunPlan,
  stored: readonly Fact[] = [],
): { onEvent(event: Event): void; join(run: Run): void } {
  const has = (type: Fact["type"]) => stored.some((fact) => fact.type === type);
  let steers = plan.steerAt !== null && !has("steered");
  let cancels = plan.cancelAt !== null && !has("cancel_requested");
  let run: Run | undefined;
  const meddle = (fact: Fact) => {
    if (steers && isAt(fact, plan.steerAt)) {
      steers = false;
      run?.steer("And hurry.");
    }
    if (cancels && isAt(fact, plan.cancelAt)) {
      cancels = false;
      run?.cancel();
    }
  };
  return {
    onEvent(event) {
      if (isFact(event)) meddle(event);
    },
    join(joined) {
      run = joined;
      if (!has("done")) for (const fact of stored) meddle(fact);
    },
  };
}

function isAt(fact: Fact, moment: Moment | null): boolean {
  return fact.turn === moment?.turn && fact.type === moment.type;
}

/** Follows a run to its end, answering whenever it waits. */
export async function play(plan: RunPlan, run: Run): Promise<{ events: Event[]; result: Result }> {
  const events: Event[] = [];
  for (;;) {
    for await (const event of run) events.push(event);
    const result = await run;
    if (result.status !== "waiting") return { events, result };
    for (const { callId, needs, input, question } of result.pending) {
      const { n } = input as { n: number };
      if (needs === "answer") run.answer(callId, { done: n });
      else if (plannedCall(plan, n)?.agrees) run.approve(callId, question && { n });
      else run.deny(callId, "no");
    }
  }
}

import { type Arbitrary, array, boolean, constantFrom, integer, option, record } from "fast-check";
import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent, type InstructionsInput } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import type { Entry } from "../kernel/history.ts";
import type { Model } from "../kernel/model.ts";
import type { HandoffPolicy } from "../kernel/policy.ts";
import { defineTool, type Effects, type Tool, type ToolContext } from "../kernel/tool.ts";
import type { Result } from "../runtime/result.ts";
import type { Run } from "../runtime/run-handle.ts";
import { scriptedModel } from "./scripted-model.ts";
import { isValidHistory } from "./valid-history.ts";

/** A random run: what the model answers, what the tools do, and what the user does meanwhile. */
export type RunPlan = {
  readonly turns: readonly PlannedTurn[];
  readonly maxTurns: number;
  readonly sequential: boolean;
  readonly finalTurn: "no-tools" | "keep-tools";
  readonly handoff: Pick<HandoffPolicy, "mode" | "onDenied">;
  readonly steerAt: Moment | null;
  readonly cancelAt: Moment | null;
};

/** A position in a run that is the same after a crash. */
export type Moment = { readonly turn: number; readonly type: Fact["type"] };

export type PlannedTurn = {
  readonly words: boolean;
  /** The first request of this turn fails with a transient error. */
  readonly flaky: boolean;
  /** The model answers the user, or the agent that handed off to it. */
  readonly answers: boolean;
  readonly calls: readonly PlannedCall[];
};

export type PlannedCall = {
  readonly tool: string;
  /** `once`: the first attempt in each process fails. */
  readonly outcome: "ok" | "throw" | "once";
  readonly agrees: boolean;
  readonly badArguments: boolean;
  /** The provider gives every call of the run the same id. */
  readonly sameId: boolean;
  /** Target of a handoff. */
  readonly to: string;
};

/** The tools, and which of them may run again if a crash left their outcome unknown. */
const plannedTools: {
  readonly [name: string]: {
    effects?: Effects;
    idempotent?: boolean;
    repeatable: boolean;
    asks?: boolean;
    /** Number of questions it asks during a call. */
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

const arbitraryMoment: Arbitrary<Moment> = record({
  turn: integer({ min: 1, max: 5 }),
  type: constantFrom("turn_start", "message", "tool_call_start", "tool_call_result", "turn_end"),
});

export const arbitraryRunPlan: Arbitrary<RunPlan> = record({
  turns: array(
    record({
      words: boolean(),
      flaky: boolean(),
      answers: constantFrom(false, false, false, true),
      calls: array(
        record({
          tool: constantFrom(...Object.keys(plannedTools), "missing", ...Array<string>(4).fill("handoff")),
          outcome: constantFrom("ok", "ok", "throw", "once"),
          agrees: boolean(),
          badArguments: constantFrom(false, false, false, true),
          sameId: boolean(),
          to: constantFrom("planned", "second", "third", "nobody"),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { maxLength: 5 },
  ),
  maxTurns: integer({ min: 1, max: 7 }),
  sequential: boolean(),
  finalTurn: constantFrom("no-tools", "keep-tools"),
  handoff: record({
    mode: constantFrom("return", "return", "transfer"),
    onDenied: constantFrom("tell-model", "tell-model", "fail"),
  }),
  steerAt: option(arbitraryMoment, { freq: 3 }),
  cancelAt: option(arbitraryMoment, { freq: 6 }),
});

export const steerText = "And hurry.";

export const answerText = "This is the answer.";

/** The executions of one process, and the invalid histories that its model received. */
export type ExecutionRecord = {
  readonly executed: Map<number, number>;
  readonly keys: Map<number, Set<string>>;
  readonly invalidHistories: (readonly Entry[])[];
};

export function createExecutionRecord(): ExecutionRecord {
  return { executed: new Map(), keys: new Map(), invalidHistories: [] };
}

/** The number of a planned call: its position in the plan, which is also in its input. */
function toCallNumber(turn: number, index: number): number {
  return turn * 10 + index;
}

function findPlannedCall(plan: RunPlan, number: number): PlannedCall | undefined {
  return plan.turns[Math.floor(number / 10)]?.calls[number % 10];
}

export function isRepeatable(plan: RunPlan, number: number): boolean {
  return plannedTools[findPlannedCall(plan, number)?.tool ?? ""]?.repeatable ?? true;
}

/** Maximum executions of a non-repeatable call: one, plus one per question. */
export function getMaxExecutions(plan: RunPlan, number: number): number {
  return 1 + countQuestions(findPlannedCall(plan, number));
}

function countQuestions(call: PlannedCall | undefined): number {
  return plannedTools[call?.tool ?? ""]?.questions ?? 0;
}

/**
 * The agent of a plan, as in its own process: only `world` and the requests carry state. It can hand off to two other
 * agents. All three follow the plan for the turn and differ in name only.
 */
export function createPlannedAgent(plan: RunPlan, world: ExecutionRecord): Agent {
  const model = createPlannedModel(plan, world);
  const tools = createPlannedTools(plan, world);
  const { maxTurns, finalTurn, handoff } = plan;
  const toolExecution = plan.sequential ? "sequential" : "parallel";
  const policy = { maxTurns, finalTurn, toolExecution, handoff } as const;
  const instructions = ({ turn }: InstructionsInput) => `Turn ${turn}.`;
  const agent = (name: string, handoffs: () => readonly Agent[]) =>
    defineAgent({ name, model, tools, policy, instructions, handoffs });
  const planned: Agent = agent("planned", () => [second, third]);
  const second: Agent = agent("second", () => [third, planned]);
  const third: Agent = agent("third", () => [planned]);
  return planned;
}

function createPlannedModel(plan: RunPlan, world: ExecutionRecord): Model {
  const asked = new Set<number>();
  return scriptedModel((request) => {
    const isEnded = request.history.at(-1)?.type === "assistant";
    if (!isValidHistory(request.history) || isEnded) world.invalidHistories.push(request.history);
    const turn = Number(/^Turn (\d+)/.exec(request.instructions)?.[1]) - 1;
    const planned = plan.turns[turn];
    if (!planned || planned.answers) return { text: answerText };
    const isFirst = !asked.has(turn);
    asked.add(turn);
    if (planned.flaky && isFirst) return { text: "half", finish: "none" };
    const calls = planned.calls.map((call, index) => ({
      name: call.tool,
      ...(call.sameId ? { id: "same" } : {}),
      ...(call.badArguments
        ? { arguments: `{"n":${toCallNumber(turn, index)}` }
        : { input: { n: toCallNumber(turn, index), ...(call.tool === "handoff" && { agent: call.to }) } }),
    }));
    return { ...(planned.words && { text: `Working on ${turn}.` }), calls, split: 3 };
  });
}

function createPlannedTools(plan: RunPlan, world: ExecutionRecord): Tool[] {
  return Object.entries(plannedTools).map(([name, kind]) =>
    defineTool({
      name,
      description: name,
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      ...(kind.effects && { effects: kind.effects }),
      ...(kind.idempotent && { idempotent: true }),
      ...(kind.asks && { needsApproval: true }),
      ...(!kind.client && {
        execute: (input: { n: number }, context: ToolContext) =>
          executePlannedCall(plan, world, { n: input.n, ...context }),
      }),
    }),
  );
}

async function executePlannedCall(
  plan: RunPlan,
  { executed, keys }: Pick<ExecutionRecord, "executed" | "keys">,
  { n, idempotencyKey, answers }: { n: number } & Pick<ToolContext, "idempotencyKey" | "answers">,
): Promise<unknown> {
  const times = (executed.get(n) ?? 0) + 1;
  executed.set(n, times);
  keys.set(n, (keys.get(n) ?? new Set()).add(idempotencyKey));
  const call = findPlannedCall(plan, n);
  // Tools end in a different order than they start.
  for (let wait = 0; wait < (n * 7) % 5; wait++) await Promise.resolve();
  if (call?.outcome === "throw" || (call?.outcome === "once" && times === 1))
    throw new AgentError("tool_failed", `no ${n}`);
  const number = answers.length;
  if (number < countQuestions(call)) {
    const schema = { type: "object", properties: { n: { const: n } }, required: ["n"] };
    return { ask: { message: `May I ${n}?`, schema, state: number } };
  }
  return number === 0 ? { done: n } : { done: n, answers };
}

/** The user of a plan: steers and cancels at the planned moments unless that happened before the crash. */
export function createSimulatedUser(
  plan: RunPlan,
  stored: readonly Fact[] = [],
): { onEvent(event: Event): void; join(run: Run): void } {
  const has = (type: Fact["type"]) => stored.some((fact) => fact.type === type);
  let shouldSteer = plan.steerAt !== null && !has("steered");
  let shouldCancel = plan.cancelAt !== null && !has("cancel_requested");
  let run: Run | undefined;
  const actOn = (fact: Fact) => {
    if (shouldSteer && isAtMoment(fact, plan.steerAt)) {
      shouldSteer = false;
      run?.steer(steerText);
    }
    if (shouldCancel && isAtMoment(fact, plan.cancelAt)) {
      shouldCancel = false;
      run?.cancel();
    }
  };
  return {
    onEvent(event) {
      if (isFact(event)) actOn(event);
    },
    join(joined) {
      run = joined;
      if (!has("done")) for (const fact of stored) actOn(fact);
    },
  };
}

function isAtMoment(fact: Fact, moment: Moment | null): boolean {
  return fact.turn === moment?.turn && fact.type === moment.type;
}

/** Runs to the end and answers pending calls. */
export async function runToEnd(plan: RunPlan, run: Run): Promise<{ events: Event[]; result: Result }> {
  const events: Event[] = [];
  for (;;) {
    for await (const event of run) events.push(event);
    const result = await run;
    if (result.status !== "waiting") return { events, result };
    for (const { callId, needs, input, question } of result.pending) {
      const { n } = input as { n: number };
      if (needs === "answer") run.answer(callId, { done: n });
      else if (findPlannedCall(plan, n)?.agrees) run.approve(callId, question && { n });
      else run.deny(callId, "no");
    }
  }
}

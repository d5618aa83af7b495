import type { ErrorCode } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { Budget, Retry } from "../policy.ts";
import { computeElapsedMs, listAncestors, type RunState } from "../state/state.ts";
import { decideFacts, type Rule } from "./rule.ts";

/** From this share of a budget on, people and the model are warned. */
const warningShare = 0.8;

const kinds: readonly {
  kind: keyof Budget;
  code: ErrorCode;
  spent: (run: RunState) => number;
  unit: string;
}[] = [
  {
    kind: "tokens",
    code: "budget_tokens",
    spent: ({ usage }) => usage.inputTokens + usage.outputTokens,
    unit: "tokens",
  },
  { kind: "cost", code: "budget_cost", spent: ({ usage }) => usage.cost ?? 0, unit: "US dollars" },
  { kind: "seconds", code: "budget_seconds", spent: (run) => computeElapsedMs(run) / 1000, unit: "seconds" },
  {
    kind: "toolCalls",
    code: "budget_tool_calls",
    spent: ({ startedCalls: begun }) => begun,
    unit: "tool calls",
  },
];

/** A spent budget ends the run. Spent tool calls end it only when the model has not used its turn without tools to answer. */
export const stopAtBudget: Rule = ({ run }) => {
  const spent = findSpentBudget(run) ?? findSpentToolCalls(run);
  return spent && decideFacts("limit", { type: "limit_reached", ...spent, turns: run.turn });
};

/** Also of a run that this one is nested in: what it spends, both spend. */
export function findSpentBudget(nested: RunState): { code: ErrorCode; message: string } | undefined {
  for (const run of listAncestors(nested)) {
    for (const { kind, code, spent, unit } of kinds) {
      const limit = run.policy.budget[kind];
      if (kind === "toolCalls" || limit === "unlimited" || spent(run) < limit) continue;
      return { code, message: `The budget of ${limit} ${unit} is used up.` };
    }
  }
  return undefined;
}

function findSpentToolCalls(run: RunState): { code: ErrorCode; message: string } | undefined {
  if (!hasSpentToolCalls(run) || run.currentTurn?.tools !== "withdrawn") return undefined;
  return {
    code: "budget_tool_calls",
    message: `The budget of ${computeToolCallBudget(run).limit} tool calls is used up.`,
  };
}

/** One warning per budget, before it ends. */
export function buildBudgetWarnings(run: RunState): FactBody[] {
  const warnings: FactBody[] = [];
  for (const { kind, code, spent, unit } of kinds) {
    const limit = run.policy.budget[kind];
    if (
      limit === "unlimited" ||
      limit === 0 ||
      run.warned.has(`${code}_near`) ||
      spent(run) < limit * warningShare
    )
      continue;
    const share = Math.min(100, Math.round((100 * spent(run)) / limit));
    warnings.push({
      type: "warning",
      code: `${code}_near`,
      message: `${share} % of the budget of ${limit} ${unit} is used.`,
    });
  }
  return warnings;
}

export function hasSpentToolCalls(run: RunState): boolean {
  return computeToolCallBudget(run).left <= 0;
}

/** The tightest budget of tool calls, of this run and those it is nested in. */
export function computeToolCallBudget(nested: RunState): { readonly limit: number; readonly left: number } {
  let tightest = { limit: Number.POSITIVE_INFINITY, left: Number.POSITIVE_INFINITY };
  for (const { policy, startedCalls: begun } of listAncestors(nested)) {
    const limit = policy.budget.toolCalls;
    if (limit !== "unlimited" && limit - begun < tightest.left) tightest = { limit, left: limit - begun };
  }
  return tightest;
}

export const spentCallsNote: string =
  "You have no tool calls left. Give your answer now from what you have found.";

/** What the model is told once a budget is nearly used up. */
export function buildBudgetNote(run: RunState): string | undefined {
  const near = kinds.filter(({ code }) => run.warned.has(`${code}_near`)).map(({ unit }) => unit);
  return near.length > 0
    ? `Note: the budget of ${near.join(" and ")} is nearly used up. Answer now with what you have.`
    : undefined;
}

/** A whole model call, with all its bytes, takes no longer than this. */
export const maxCallMs = 600_000;

export const modelRetry: Retry = {
  maxAttempts: 3,
  baseMs: 500,
  factor: "exponential",
  maxMs: 30_000,
  jitter: 1,
};

/** Time left of the budget: no single effect may outlast it. */
export function computeRemainingMs(nested: RunState): number {
  let left = Number.MAX_SAFE_INTEGER;
  for (const run of listAncestors(nested)) {
    const { seconds } = run.policy.budget;
    if (seconds !== "unlimited") left = Math.min(left, Math.max(1, seconds * 1000 - computeElapsedMs(run)));
  }
  return left;
}

type TurnCount = Pick<RunState, "policy"> & Partial<Pick<RunState, "handoffs">>;

/** The last turn that the agent in charge may take: each agent that waits for it keeps one for its own answer. */
function computeLastTurn({ policy, handoffs = [] }: TurnCount): number {
  return policy.maxTurns === "unlimited" ? Number.POSITIVE_INFINITY : policy.maxTurns - handoffs.length;
}

export function isLastTurn(run: TurnCount, turn: number): boolean {
  return turn >= computeLastTurn(run);
}

/** What is added to the instructions as the limit comes near: first a request to come to an end, then a demand. */
export function buildWrapUpNote(run: TurnCount, turn: number): string | undefined {
  const { policy } = run;
  const left = computeLastTurn(run) - turn;
  if (left <= 0) return policy.finalTurn === "no-tools" ? lastTurnNote : undefined;
  if (left > policy.wrapUpAt) return undefined;
  return (
    `Note: you have ${left} ${left === 1 ? "turn" : "turns"} left. Give an answer first. ` +
    "If something is missing, ask the user rather than search again, and use what you already know."
  );
}

export const lastTurnNote: string =
  "You have no turns left and no tools. Give your final answer now from what you know. " +
  "If you cannot answer, say which information is missing.";

const maxUnknownTools = 3;

/** The same call with the same result again and again, or one invented tool after the other: the run is stuck. */
export const stopOnRepetition: Rule = ({ run }) => {
  const repeated = run.currentTurn?.repeated;
  const { nudgeAt, stopAt } = run.policy.repetition;
  let message: string | undefined;
  // Never before the model could be told: it may have said the same thing three times in one breath.
  if (repeated && repeated.count >= stopAt && repeated.before >= Math.min(nudgeAt, stopAt - 1)) {
    message = `"${repeated.name}" was called ${repeated.count} times with the same arguments and the same result.`;
  } else if (run.unknownTools >= maxUnknownTools) {
    message = `${run.unknownTools} calls in a row were to tools that do not exist.`;
  }
  return message === undefined
    ? undefined
    : decideFacts("limit", { type: "limit_reached", code: "stuck_loop", message, turns: run.turn });
};

/** What the model is told before that. */
export function buildRepetitionNote(run: RunState): string | undefined {
  const repeated = run.currentTurn?.repeated;
  if (!repeated || repeated.count < run.policy.repetition.nudgeAt) return undefined;
  return (
    `Note: you have called "${repeated.name}" ${repeated.count} times with the same arguments and got the same result. ` +
    "Do not repeat it: change the arguments, use another tool, or answer with what you have."
  );
}

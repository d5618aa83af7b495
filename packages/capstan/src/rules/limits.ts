import type { ModelRetryPlan } from "../effect.ts";
import type { ErrorCode } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { type Budget, defaultPolicy } from "../policy.ts";
import { computeElapsedMs, listAncestors, type RunState } from "../state/state.ts";
import { decideFacts, type Rule } from "./rule.ts";

/** Share of a budget at which the user and the model are warned. */
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
    spent: ({ startedCalls }) => startedCalls,
    unit: "tool calls",
  },
];

/** Ends the run when a budget is spent. Spent tool calls end it only if the model did not answer in a turn without tools. */
export const stopAtBudget: Rule = ({ run }) => {
  const spent = findSpentBudget(run) ?? findSpentToolCalls(run);
  return spent && decideFacts("limit", { type: "limit_reached", ...spent, turns: run.turn });
};

/** Finds a spent budget of the run or of its ancestors, which nested runs also consume. */
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

/** Builds one warning per budget that is nearly spent. */
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

/** Returns the tightest budget of tool calls among the run and its ancestors. */
export function computeToolCallBudget(nested: RunState): { readonly limit: number; readonly left: number } {
  let tightest = { limit: Number.POSITIVE_INFINITY, left: Number.POSITIVE_INFINITY };
  for (const { policy, startedCalls } of listAncestors(nested)) {
    const limit = policy.budget.toolCalls;
    if (limit !== "unlimited" && limit - startedCalls < tightest.left)
      tightest = { limit, left: limit - startedCalls };
  }
  return tightest;
}

export const spentCallsNote: string =
  "You have no tool calls left. Give your answer now from what you have found.";

/** Builds the note for the model when a budget is nearly spent. */
export function buildBudgetNote(run: RunState): string | undefined {
  const near = kinds.filter(({ code }) => run.warned.has(`${code}_near`)).map(({ unit }) => unit);
  return near.length > 0
    ? `Note: the budget of ${near.join(" and ")} is nearly used up. Answer now with what you have.`
    : undefined;
}

/** Timeout of a model call, including its whole stream. */
export const maxCallMs = 600_000;

/** Plans the retries of a model call. Logs of earlier versions have no such policy. */
export function planModelRetry(run: RunState, at: number, hasAlternative: boolean): ModelRetryPlan {
  const { failingSince = at, suspensions = 0 } = run.currentTurn ?? {};
  const policy = run.policy.modelRetry ?? defaultPolicy.modelRetry;
  return { ...policy, failingMs: at - failingSince, suspensions, hasAlternative };
}

/** Returns the time left in the budget, which limits every effect. */
export function computeRemainingMs(nested: RunState): number {
  let left = Number.MAX_SAFE_INTEGER;
  for (const run of listAncestors(nested)) {
    const { seconds } = run.policy.budget;
    if (seconds !== "unlimited") left = Math.min(left, Math.max(1, seconds * 1000 - computeElapsedMs(run)));
  }
  return left;
}

type TurnCount = Pick<RunState, "policy"> & Partial<Pick<RunState, "handoffs">>;

/** Returns the last turn of the agent in charge; each waiting agent keeps one turn for its own answer. */
function computeLastTurn({ policy, handoffs = [] }: TurnCount): number {
  return policy.maxTurns === "unlimited" ? Number.POSITIVE_INFINITY : policy.maxTurns - handoffs.length;
}

export function isLastTurn(run: TurnCount, turn: number): boolean {
  return turn >= computeLastTurn(run);
}

/** Builds the note added near the turn limit: first a request to wrap up, then a demand to answer. */
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

/** Ends a stuck run: the same call with the same result repeatedly, or several unknown tools in a row. */
export const stopOnRepetition: Rule = ({ run }) => {
  const repeated = run.currentTurn?.repeated;
  const { nudgeAt, stopAt } = run.policy.repetition;
  let message: string | undefined;
  // Not before the model has seen the note: it may have made the same call several times in one message.
  if (repeated && repeated.count >= stopAt && repeated.before >= Math.min(nudgeAt, stopAt - 1)) {
    message = `"${repeated.name}" was called ${repeated.count} times with the same arguments and the same result.`;
  } else if (run.unknownTools >= maxUnknownTools) {
    message = `${run.unknownTools} calls in a row were to tools that do not exist.`;
  }
  return message === undefined
    ? undefined
    : decideFacts("limit", { type: "limit_reached", code: "stuck_loop", message, turns: run.turn });
};

/** Builds the note about a repeated call, which precedes the stop. */
export function buildRepetitionNote(run: RunState): string | undefined {
  const repeated = run.currentTurn?.repeated;
  if (!repeated || repeated.count < run.policy.repetition.nudgeAt) return undefined;
  return (
    `Note: you have called "${repeated.name}" ${repeated.count} times with the same arguments and got the same result. ` +
    "Do not repeat it: change the arguments, use another tool, or answer with what you have."
  );
}

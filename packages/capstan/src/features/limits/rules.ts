import type { ErrorCode } from "../../base/errors.ts";
import {
  budgetKinds,
  computeLastTurn,
  computeToolCallBudget,
  findSpentBudget,
  getLimit,
  hasSpentCalls,
  spentAgentsMessage,
  type TurnCount,
} from "../../kernel/budget.ts";
import type { FactBody } from "../../kernel/event.ts";
import { decideFacts, type Rule } from "../../kernel/rule.ts";
import type { RunState } from "../../kernel/state.ts";

/** Share of a budget at which the user and the model are warned. */
const warningShare = 0.8;

/** Ends the run when a budget is spent. Spent calls end it only if the model did not answer in a turn without tools. */
export const stopAtBudget: Rule = ({ run }) => {
  const spent = findSpentBudget(run) ?? findSpentCalls(run);
  return spent && decideFacts("limit", { type: "limit_reached", ...spent, turns: run.turn });
};

function findSpentCalls(run: RunState): { code: ErrorCode; message: string } | undefined {
  const { tools, calls } = run.currentTurn ?? {};
  // A model that has answered may still receive the results of background work.
  if (!hasSpentCalls(run) || tools !== "withdrawn" || calls?.size === 0) return undefined;
  if (run.warned.has("budget_agents")) return { code: "budget_agents", message: spentAgentsMessage };
  return {
    code: "budget_tool_calls",
    message: `The budget of ${computeToolCallBudget(run).limit} tool calls is used up.`,
  };
}

/** Builds one warning per budget that is nearly spent. */
export function buildBudgetWarnings(run: RunState): FactBody[] {
  const warnings: FactBody[] = [];
  for (const { kind, code, spent, unit } of budgetKinds) {
    const limit = getLimit(run, kind);
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

export const spentCallsNote: string =
  "You have no tool calls left. Give your answer now from what you have found.";

/** Builds the note for the model when a budget is nearly spent. */
export function buildBudgetNote(run: RunState): string | undefined {
  const near = budgetKinds.filter(({ code }) => run.warned.has(`${code}_near`)).map(({ unit }) => unit);
  return near.length > 0
    ? `Note: the budget of ${near.join(" and ")} is nearly used up. Answer now with what you have.`
    : undefined;
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

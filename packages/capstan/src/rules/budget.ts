import type { ErrorCode } from "../errors.ts";
import type { FactBody } from "../event.ts";
import type { Budget } from "../policy.ts";
import { elapsedMs, type RunState } from "../state.ts";
import { note, type Rule } from "./rule.ts";

/** From this share of a budget on, people and the model are warned. */
const nearAt = 0.8;

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
  { kind: "seconds", code: "budget_seconds", spent: (run) => elapsedMs(run) / 1000, unit: "seconds" },
  { kind: "toolCalls", code: "budget_tool_calls", spent: ({ begun }) => begun, unit: "tool calls" },
];

/** A spent budget ends the run. Spent tool calls end it only when the model has not used its turn without tools to answer. */
export const budget: Rule = ({ run }) => {
  const spent = spentBudget(run) ?? unansweredWithoutTools(run);
  return spent && note("limit", { type: "limit_reached", ...spent, turns: run.turn });
};

export function spentBudget(run: RunState): { code: ErrorCode; message: string } | undefined {
  for (const { kind, code, spent, unit } of kinds) {
    const limit = run.policy.budget[kind];
    if (kind === "toolCalls" || limit === "unlimited" || spent(run) < limit) continue;
    return { code, message: `The budget of ${limit} ${unit} is used up.` };
  }
  return undefined;
}

function unansweredWithoutTools(run: RunState): { code: ErrorCode; message: string } | undefined {
  if (!toolCallsAreSpent(run) || run.round?.tools !== "withdrawn") return undefined;
  return {
    code: "budget_tool_calls",
    message: `The budget of ${run.policy.budget.toolCalls} tool calls is used up.`,
  };
}

/** One warning per budget, before it ends. */
export function budgetWarnings(run: RunState): FactBody[] {
  const warnings: FactBody[] = [];
  for (const { kind, code, spent, unit } of kinds) {
    const limit = run.policy.budget[kind];
    if (limit === "unlimited" || limit === 0 || run.warned.has(`${code}_near`) || spent(run) < limit * nearAt)
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

export function toolCallsAreSpent(run: RunState): boolean {
  const limit = run.policy.budget.toolCalls;
  return limit !== "unlimited" && run.begun >= limit;
}

export const spentCallsNote: string =
  "You have no tool calls left. Give your answer now from what you have found.";

/** What the model is told once a budget is nearly used up. */
export function budgetNote(run: RunState): string | undefined {
  const near = kinds.filter(({ code }) => run.warned.has(`${code}_near`)).map(({ unit }) => unit);
  return near.length > 0
    ? `Note: the budget of ${near.join(" and ")} is nearly used up. Answer now with what you have.`
    : undefined;
}

/** Time left of the budget: no single effect may outlast it. */
export function remainingMs(run: RunState): number {
  const { seconds } = run.policy.budget;
  return seconds === "unlimited" ? Number.MAX_SAFE_INTEGER : Math.max(1, seconds * 1000 - elapsedMs(run));
}

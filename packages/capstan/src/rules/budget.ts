import type { ErrorCode } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { lineage } from "../nested-state.ts";
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

/** Also of a run that this one is nested in: what it spends, both spend. */
export function spentBudget(nested: RunState): { code: ErrorCode; message: string } | undefined {
  for (const run of lineage(nested)) {
    for (const { kind, code, spent, unit } of kinds) {
      const limit = run.policy.budget[kind];
      if (kind === "toolCalls" || limit === "unlimited" || spent(run) < limit) continue;
      return { code, message: `The budget of ${limit} ${unit} is used up.` };
    }
  }
  return undefined;
}

function unansweredWithoutTools(run: RunState): { code: ErrorCode; message: string } | undefined {
  if (!toolCallsAreSpent(run) || run.round?.tools !== "withdrawn") return undefined;
  return {
    code: "budget_tool_calls",
    message: `The budget of ${toolCallBudget(run).limit} tool calls is used up.`,
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
  return toolCallBudget(run).left <= 0;
}

/** The tightest budget of tool calls, of this run and those it is nested in. */
export function toolCallBudget(nested: RunState): { readonly limit: number; readonly left: number } {
  let tightest = { limit: Number.POSITIVE_INFINITY, left: Number.POSITIVE_INFINITY };
  for (const { policy, begun } of lineage(nested)) {
    const limit = policy.budget.toolCalls;
    if (limit !== "unlimited" && limit - begun < tightest.left) tightest = { limit, left: limit - begun };
  }
  return tightest;
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
export function remainingMs(nested: RunState): number {
  let left = Number.MAX_SAFE_INTEGER;
  for (const run of lineage(nested)) {
    const { seconds } = run.policy.budget;
    if (seconds !== "unlimited") left = Math.min(left, Math.max(1, seconds * 1000 - elapsedMs(run)));
  }
  return left;
}

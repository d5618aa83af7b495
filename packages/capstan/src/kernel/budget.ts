import type { ErrorCode } from "../base/errors.ts";
import type { ModelRetryPlan } from "./effect.ts";
import { type Budget, defaultPolicy } from "./policy.ts";
import { computeElapsedMs, listAncestors, type RunState } from "./state.ts";

export const budgetKinds: readonly {
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
  {
    kind: "modelCalls",
    code: "budget_model_calls",
    spent: ({ modelCalls }) => modelCalls,
    unit: "model calls",
  },
  { kind: "agents", code: "budget_agents", spent: ({ startedAgents }) => startedAgents, unit: "agents" },
];

/** Kinds that end a run only if its model does not answer without tools. */
const callKinds: ReadonlySet<keyof Budget> = new Set(["toolCalls", "agents"]);

/** Returns a limit; runs that an earlier version started lack some. */
export const getLimit = ({ policy }: RunState, kind: keyof Budget): number | "unlimited" =>
  policy.budget[kind] ?? "unlimited";

/** Finds a spent budget of the run or of its ancestors, which nested runs also consume. */
export function findSpentBudget(nested: RunState): { code: ErrorCode; message: string } | undefined {
  for (const run of listAncestors(nested)) {
    for (const { kind, code, spent, unit } of budgetKinds) {
      const limit = getLimit(run, kind);
      if (callKinds.has(kind) || limit === "unlimited" || spent(run) < limit) continue;
      return { code, message: `The budget of ${limit} ${unit} is used up.` };
    }
  }
  return undefined;
}

/** Whether the run has no tool calls left, or an agent was refused because of the budget. */
export function hasSpentCalls(run: RunState): boolean {
  return computeToolCallBudget(run).left <= 0 || run.warned.has("budget_agents");
}

export const spentAgentsMessage: string =
  "The run and its nested runs have started as many agents as `budget.agents` allows.";

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

export type TurnCount = Pick<RunState, "policy"> & Partial<Pick<RunState, "handoffs">>;

/** Returns the last turn of the agent in charge; each waiting agent keeps one turn for its own answer. */
export function computeLastTurn({ policy, handoffs = [] }: TurnCount): number {
  return policy.maxTurns === "unlimited" ? Number.POSITIVE_INFINITY : policy.maxTurns - handoffs.length;
}

export function isLastTurn(run: TurnCount, turn: number): boolean {
  return turn >= computeLastTurn(run);
}

import type { Agents } from "./agent.ts";
import { AgentError } from "./errors.ts";
import { allToolsFailed } from "./rules/all-tools-failed.ts";
import { answer } from "./rules/answer.ts";
import { approvals } from "./rules/approvals.ts";
import { budget } from "./rules/budget.ts";
import { cached } from "./rules/cached.ts";
import { cancelled } from "./rules/cancelled.ts";
import { ended } from "./rules/ended.ts";
import { closingHandoffs, deniedHandoff, handOver, handoffCalls } from "./rules/handoffs.ts";
import { modelFailure } from "./rules/model-failure.ts";
import { nextTurn } from "./rules/next-turn.ts";
import { onLimit } from "./rules/on-limit.ts";
import { quarantined } from "./rules/quarantined.ts";
import { refusals } from "./rules/refusals.ts";
import { repetition } from "./rules/repetition.ts";
import type { Decision, Rule } from "./rules/rule.ts";
import { toolCalls } from "./rules/tool-calls.ts";
import { turnEnd } from "./rules/turn-end.ts";
import { turnLimit } from "./rules/turn-limit.ts";
import { turnSummary } from "./rules/turn-summary.ts";
import type { State } from "./state.ts";

/** In order: the first rule with an answer decides. */
const rules: readonly Rule[] = [
  ended,
  cancelled,
  quarantined,
  modelFailure,
  cached,
  refusals,
  approvals,
  handoffCalls,
  toolCalls,
  turnEnd,
  turnSummary,
  deniedHandoff,
  handOver,
  onLimit,
  answer,
  repetition,
  allToolsFailed,
  budget,
  turnLimit,
  nextTurn,
];

/**
 * What to do next, from the state alone: pure, and as cheap at turn 1,000 as at turn 1. It is asked only when no
 * effect is in flight.
 */
export function decide(agents: Agents, state: State): Decision {
  const { run } = state;
  if (!run) throw new AgentError("unknown_run", `The session "${state.sessionId}" has no run to continue.`);
  const agent = agents.get(run.agent);
  if (!agent) {
    const known = [...agents.keys()].map((name) => `"${name}"`).join(", ");
    throw new AgentError(
      "unknown_agent",
      `The run "${run.id}" needs the agent "${run.agent}"; given: ${known || "none"}.`,
    );
  }
  for (const rule of rules) {
    const decision = rule({ agent, state, run });
    if (decision) return closingHandoffs(run, decision);
  }
  throw new AgentError("invalid_definition", "No rule decided; the last rule must always do.");
}

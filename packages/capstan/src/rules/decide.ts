import type { Agents } from "../agent.ts";
import { AgentError } from "../errors.ts";
import type { State } from "../state/state.ts";
import { allToolsFailed, answer } from "./answer.ts";
import { cancelled, ended, modelFailure, quarantined } from "./end-run.ts";
import { closingHandoffs, deniedHandoff, handOver, handoffCalls } from "./handoffs.ts";
import { onLimit } from "./limit-answers.ts";
import { budget, repetition } from "./limits.ts";
import { refusals } from "./refusals.ts";
import type { Decision, Rule } from "./rule.ts";
import { approvals, cached, toolCalls } from "./tool-calls.ts";
import { nextTurn, turnEnd, turnLimit, turnSummary } from "./turns.ts";

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

import { AgentError } from "../base/errors.ts";
import { acceptAnswer, answerWhenToolsFailed } from "../features/answers/rules.ts";
import { refuseCalls } from "../features/calls/refusals.ts";
import {
  expireApprovals,
  requestApprovals,
  reuseCachedResults,
  runToolCalls,
} from "../features/calls/rules.ts";
import { compactOnRequest } from "../features/compaction/rules.ts";
import {
  failOnDeniedHandoff,
  performHandoff,
  settleHandoffCalls,
  settleOpenHandoffs,
} from "../features/handoffs/rules.ts";
import { answerOnLimit } from "../features/limits/limit-answers.ts";
import { stopAtBudget, stopOnRepetition } from "../features/limits/rules.ts";
import { awaitBackground } from "../features/nested/rules.ts";
import {
  buildCancellation,
  handleModelFailure,
  stopWhenCancelled,
  stopWhenEnded,
  stopWhenQuarantined,
} from "../features/recovery/rules.ts";
import { endTurn, startNextTurn, stopAtTurnLimit, summarizeTurn } from "../features/turns/rules.ts";
import type { Agents } from "../kernel/agent.ts";
import { type Decision, decideFacts, type Rule } from "../kernel/rule.ts";
import type { RunState, State } from "../kernel/state.ts";

/** In order: the first rule that returns a decision wins. The order is a safety property. */
export const rules: readonly Rule[] = [
  stopWhenEnded,
  stopWhenCancelled,
  stopWhenQuarantined,
  handleModelFailure,
  compactOnRequest,
  expireApprovals,
  reuseCachedResults,
  refuseCalls,
  requestApprovals,
  settleHandoffCalls,
  runToolCalls,
  endTurn,
  summarizeTurn,
  failOnDeniedHandoff,
  performHandoff,
  answerOnLimit,
  awaitBackground,
  acceptAnswer,
  stopOnRepetition,
  answerWhenToolsFailed,
  stopAtBudget,
  stopAtTurnLimit,
  startNextTurn,
];

/**
 * Decides the next step from the state alone. Pure, and as fast at turn 1,000 as at turn 1. Called only when no effect
 * is in flight.
 */
export function decide(agents: Agents, state: State): Decision {
  const { run } = state;
  if (!run) throw new AgentError("unknown_run", `The session "${state.sessionId}" has no run to continue.`);
  const agent = agents.get(run.agent);
  if (!agent) return decideWithoutAgent(agents, run);
  const context = { agent, state, run };
  for (const rule of rules) {
    const decision = rule(context);
    if (decision) return settleOpenHandoffs(run, decision);
  }
  throw new AgentError(
    "invalid_definition",
    "No rule returned a decision; the last rule must always return one.",
  );
}

/** Ends a cancelled run, which needs no agent. Throws `unknown_agent` for any other. */
function decideWithoutAgent(agents: Agents, run: RunState): Decision {
  if (run.done) return { type: "stop", reason: "done" };
  if (run.cancelReason !== undefined)
    return settleOpenHandoffs(run, decideFacts("cancel", ...buildCancellation(run, run.cancelReason)));
  const available = [...agents.keys()].map((name) => `"${name}"`).join(", ");
  throw new AgentError(
    "unknown_agent",
    `The run "${run.id}" needs the agent "${run.agent}"; available: ${available || "none"}.`,
  );
}

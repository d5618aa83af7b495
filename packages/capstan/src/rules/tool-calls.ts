import type { Agent } from "../agent.ts";
import type { Effect, ToolEffect } from "../effect.ts";
import type { Call, RunState } from "../state.ts";
import { isOrdered, isRepeatable, type Tool } from "../tool.ts";
import { awaitsApproval } from "./approvals.ts";
import { remainingMs } from "./budget.ts";
import { refusal } from "./refusals.ts";
import type { Rule } from "./rule.ts";

/**
 * Runs what may run now. Side by side, except that a tool with effects waits for the calls before it and holds
 * up those after it; one at a time under `sequential`. When all that is left needs an answer from outside, waits.
 */
export const toolCalls: Rule = ({ agent, run }) => {
  const { round } = run;
  if (!round || round.unsettled === 0) return undefined;
  const sequential = run.policy.toolExecution === "sequential";
  const effects: Effect[] = [];
  let first = true;
  for (const call of round.calls.values()) {
    if (call.result) continue;
    const alone = sequential || isOrderedCall(agent, call);
    if (alone && !first) break;
    if (!awaitsApproval(call, run) && !isWithClient(agent, call)) effects.push(callEffect(agent, run, call));
    if (alone) break;
    first = false;
  }
  return effects.length > 0 ? { type: "effects", effects } : { type: "stop", reason: "waiting" };
};

function isOrderedCall(agent: Agent, call: Call): boolean {
  const tool = agent.tools.get(call.part.name);
  return tool !== undefined && !call.check?.error && isOrdered(tool);
}

/** The client has been told to run it and has not answered yet. */
export function isWithClient(agent: Agent, call: Call): boolean {
  const tool = agent.tools.get(call.part.name);
  return call.attempt > 0 && tool !== undefined && !tool.execute;
}

function callEffect(agent: Agent, run: RunState, call: Call): Effect {
  const { id, name, input, raw } = call.part;
  const tool = agent.tools.get(name);
  // A decision is only taken when nothing is in flight: a call that began and has no result was cut off by a crash.
  if (call.attempt > 0 && !(tool && isRepeatable(tool))) {
    const message =
      "The process ended while this call ran: it may or may not have taken effect. Check before you repeat it.";
    return {
      type: "note",
      id: `interrupted.${id}`,
      facts: [refusal(call, { status: "interrupted", code: "tool_interrupted", message })],
    };
  }
  const approved = call.check?.approval?.digest;
  return {
    ...toolEffect(run, tool, { callId: id, name, input: raw ?? input }),
    attempt: call.attempt + 1,
    ...(approved !== undefined && { digest: approved }),
  };
}

/** A tool's own settings win over the policy. Only what may run twice is retried. */
export function toolEffect(
  run: RunState,
  tool: Tool | undefined,
  call: Pick<ToolEffect, "callId" | "name" | "input">,
): ToolEffect {
  const { policy } = run;
  const retry = { ...policy.retry, ...tool?.retry };
  return {
    type: "tool",
    id: `call.${call.callId}`,
    agent: run.agent,
    ...call,
    attempt: 1,
    timeoutMs: Math.min(tool?.timeoutMs ?? policy.toolTimeoutMs, remainingMs(run)),
    retry: tool && isRepeatable(tool) ? retry : { ...retry, maxAttempts: 1 },
  };
}

import type { Agent } from "../agent.ts";
import { toolOf } from "../builtin-tools.ts";
import type { Effect, ToolEffect } from "../effect.ts";
import { waitsInside } from "../nested-state.ts";
import { overlaid } from "../policy.ts";
import type { Call, RunState } from "../state.ts";
import { isOrdered, isRepeatable, type Tool } from "../tool.ts";
import { awaitsApproval } from "./approvals.ts";
import { remainingMs } from "./budget.ts";
import { isHandoff } from "./handoff-target.ts";
import { isHandingOver } from "./handoffs.ts";
import { refusal, unfinished } from "./refusals.ts";
import type { Rule } from "./rule.ts";

/**
 * Runs what may run now. Side by side, except that a tool with effects waits for the calls before it and holds
 * up those after it; one at a time under `sequential`. When all that is left needs an answer from outside, waits.
 */
export const toolCalls: Rule = (view) => {
  const { agent, run } = view;
  const { round } = run;
  if (!round || round.unsettled === 0 || isHandingOver(view)) return undefined;
  const sequential = run.policy.toolExecution === "sequential";
  const effects: Effect[] = [];
  let first = true;
  for (const call of round.calls.values()) {
    if (call.result || isHandoff(agent, call)) continue;
    const alone = sequential || isOrderedCall(agent, call);
    if (alone && !first) break;
    const isElsewhere = isWithClient(agent, call) || waitsInside(run, call.part.id);
    if (!awaitsApproval(call, run) && !isElsewhere) effects.push(callEffect(agent, run, call));
    if (alone) break;
    first = false;
  }
  return effects.length > 0 ? { type: "effects", effects } : { type: "stop", reason: "waiting" };
};

function isOrderedCall(agent: Agent, call: Call): boolean {
  const tool = toolOf(agent, call.part.name);
  return tool !== undefined && !call.check?.error && isOrdered(tool);
}

/** The client has been told to run it and has not answered yet. */
export function isWithClient(agent: Agent, call: Call): boolean {
  const tool = toolOf(agent, call.part.name);
  return call.attempt > 0 && !call.check?.error && tool !== undefined && !tool.execute;
}

function callEffect(agent: Agent, run: RunState, { part, check, attempt, questions }: Call): Effect {
  const { id, name, input, raw } = part;
  const tool = toolOf(agent, name);
  const inside = run.nested.get(id)?.run;
  // A decision is only taken when nothing is in flight: a call that began and came neither to a result nor to a
  // question was cut off by a crash. One that could not run in the first place has done nothing.
  const isCutOff = attempt > (questions.at(-1)?.attempt ?? 0);
  if (isCutOff && !check?.error && !(tool && isRepeatable(tool))) {
    return { type: "note", id: `interrupted.${id}`, facts: [refusal(part, unfinished)] };
  }
  return {
    ...toolEffect(run, tool, { callId: id, name, input: raw ?? input }),
    attempt: attempt + 1,
    ...(check?.error && { refused: check.error }),
    ...(check?.approval && { digest: check.approval.digest }),
    // A step of its own, also for an engine that knows finished steps by their ids.
    ...(inside && { id: `nested.${inside.waits}.${id}` }),
    ...(questions.length > 0 && {
      id: `answered.${questions.length}.${id}`,
      asked: questions.flatMap(({ question, digest, reply }) => (reply ? { question, digest, reply } : [])),
    }),
  };
}

type NamedCall = Pick<ToolEffect, "callId" | "name" | "input">;

/** A tool's own settings win over the policy. Only what may run twice is retried, and only while there is time. */
export function toolEffect(run: RunState, tool: Tool | undefined, call: NamedCall): ToolEffect {
  const { policy } = run;
  const retry = overlaid(policy.retry, tool?.retry);
  return {
    type: "tool",
    id: `call.${call.callId}`,
    agent: run.agent,
    ...call,
    attempt: 1,
    timeoutMs: tool?.timeoutMs ?? policy.toolTimeoutMs,
    deadlineMs: remainingMs(run),
    retry: tool && isRepeatable(tool) ? retry : { ...retry, maxAttempts: 1 },
  };
}

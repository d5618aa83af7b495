import type { Agent } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import type { Effect, ToolEffect } from "../effect.ts";
import { formatInput } from "../escape-text.ts";
import type { FactBody } from "../event.ts";
import { mergeDefined } from "../policy.ts";
import { toCallKey } from "../state/complete-turn.ts";
import { isNestedRunWaiting } from "../state/nested-state.ts";
import type { AskedQuestion, CachedResult, Call, RunState } from "../state/state.ts";
import { isOrdered, isRepeatable, type Tool } from "../tool.ts";
import { isHandingOver, isHandoff } from "./handoffs.ts";
import { computeRemainingMs } from "./limits.ts";
import { buildRefusal, interruptedByCrash } from "./refusals.ts";
import { decideFacts, type Rule } from "./rule.ts";

/**
 * Runs what may run now. Side by side, except that a tool with effects waits for the calls before it and holds
 * up those after it; one at a time under `sequential`. When all that is left needs an answer from outside, waits.
 */
export const runToolCalls: Rule = (view) => {
  const { agent, run } = view;
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.unsettled === 0 || isHandingOver(view)) return undefined;
  const sequential = run.policy.toolExecution === "sequential";
  const effects: Effect[] = [];
  let first = true;
  for (const call of currentTurn.calls.values()) {
    if (call.result || isHandoff(agent, call)) continue;
    const alone = sequential || isOrderedCall(agent, call);
    if (alone && !first) break;
    const isElsewhere = isWithClient(agent, call) || isNestedRunWaiting(run, call.part.id);
    if (!awaitsApproval(call, run) && !isElsewhere) effects.push(buildCallEffect(agent, run, call));
    if (alone) break;
    first = false;
  }
  return effects.length > 0 ? { type: "effects", effects } : { type: "stop", reason: "waiting" };
};

function isOrderedCall(agent: Agent, call: Call): boolean {
  const tool = findTool(agent, call.part.name);
  return tool !== undefined && !call.check?.error && isOrdered(tool);
}

/** The client has been told to run it and has not answered yet. */
export function isWithClient(agent: Agent, call: Call): boolean {
  const tool = findTool(agent, call.part.name);
  return call.attempt > 0 && !call.check?.error && tool !== undefined && !tool.execute;
}

function buildCallEffect(agent: Agent, run: RunState, { part, check, attempt, questions }: Call): Effect {
  const { id, name, input, raw } = part;
  const tool = findTool(agent, name);
  const inside = run.nested.get(id)?.run;
  // A decision is only taken when nothing is in flight: a call that began and came neither to a result nor to a
  // question was cut off by a crash. One that could not run in the first place has done nothing.
  const isCutOff = attempt > (questions.at(-1)?.attempt ?? 0);
  if (isCutOff && !check?.error && !(tool && isRepeatable(tool))) {
    return { type: "note", id: `interrupted.${id}`, facts: [buildRefusal(part, interruptedByCrash)] };
  }
  return {
    ...buildToolEffect(run, tool, { callId: id, name, input: raw ?? input }),
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
export function buildToolEffect(run: RunState, tool: Tool | undefined, call: NamedCall): ToolEffect {
  const { policy } = run;
  const retry = mergeDefined(policy.retry, tool?.retry);
  return {
    type: "tool",
    id: `call.${call.callId}`,
    agent: run.agent,
    ...call,
    attempt: 1,
    timeoutMs: tool?.timeoutMs ?? policy.toolTimeoutMs,
    deadlineMs: computeRemainingMs(run),
    retry: tool && isRepeatable(tool) ? retry : { ...retry, maxAttempts: 1 },
  };
}

/** A call whose result is still fresh gets that result again, and is not made. */
export const reuseCachedResults: Rule = ({ agent, state, run }) => {
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.unsettled === 0 || state.cache.size === 0) return undefined;
  if (currentTurn.tools === "withdrawn" || currentTurn.tools === "unavailable") return undefined;
  const facts: FactBody[] = [];
  for (const call of currentTurn.calls.values()) {
    if (!mayRun(call, run) || !findTool(agent, call.part.name)?.cacheMs) continue;
    const known = state.cache.get(toCallKey(call.part));
    if (known?.cacheUntil !== undefined && known.cacheUntil > run.lastAt)
      facts.push(reuseResult(known, call));
  }
  return facts.length > 0 ? decideFacts(`cached.${run.turn}`, ...facts) : undefined;
};

/** Only what could be made now: not begun, nothing against it, and approved where that is needed. */
function mayRun({ result, attempt, check, approval }: Call, { policy }: RunState): boolean {
  if (result || attempt > 0 || check?.error) return false;
  if (!check?.approval || approval?.approved === true) return true;
  return policy.approvals === "allow" && !check.approval.because;
}

function reuseResult(known: CachedResult, { part }: Call): FactBody {
  const { name, result, status, data, ui, contexts, affected, reads } = known;
  return {
    type: "tool_call_result",
    id: part.id,
    name,
    result,
    is_error: false,
    status,
    attempts: 0,
    ms: 0,
    cached: true,
    ...(data !== undefined && { data }),
    ...(ui && { ui }),
    ...(contexts && { contexts }),
    ...(affected !== undefined && { affected }),
    ...(reads && { reads }),
  };
}

/** Asks for every approval of a turn at once, so that a person can decide on them together. */
export const requestApprovals: Rule = ({ run }) => {
  const facts: FactBody[] = [];
  for (const call of run.currentTurn?.calls.values() ?? []) {
    const { id, name, input } = call.part;
    if (findOpenQuestion(call) && run.policy.approvals === "deny")
      facts.push({
        type: "approval_resolved",
        callId: id,
        number: call.questions.length,
        ...questionNotAllowed,
      });
    if (!awaitsConsent(call, run) || call.approvalRequested || !call.check?.approval) continue;
    const shown = formatInput(input);
    facts.push({ type: "approval_required", callId: id, name, input, shown, ...call.check.approval });
  }
  return facts.length > 0 ? decideFacts(`approvals.${run.turn}`, ...facts) : undefined;
};

const questionNotAllowed = { approved: false, reason: "this run does not let tools ask." } as const;

/** The question of a tool that a person has not answered yet. */
export function findOpenQuestion({ questions, result }: Call): AskedQuestion | undefined {
  const last = questions.at(-1);
  return result || last?.reply ? undefined : last;
}

/** Whether only a person can move the call: it may not begin without one, or its tool has asked. */
export function awaitsApproval(call: Call, run: RunState): boolean {
  return findOpenQuestion(call) !== undefined || awaitsConsent(call, run);
}

export function awaitsConsent(call: Call, run: RunState): boolean {
  const { approval: asked } = call.check ?? {};
  if (call.result || !asked || call.approval) return false;
  // To allow what tools ask for is not to allow what the gate asks for: that is switched off by its own name.
  return run.policy.approvals === "ask" || (asked.because !== undefined && run.policy.approvals === "allow");
}

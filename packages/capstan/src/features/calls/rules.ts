import { formatInput } from "../../base/escape-text.ts";
import type { Agent } from "../../kernel/agent.ts";
import { computeRemainingMs } from "../../kernel/budget.ts";
import { toCallKey } from "../../kernel/complete-turn.ts";
import type { Effect, ToolEffect } from "../../kernel/effect.ts";
import type { FactBody } from "../../kernel/event.ts";
import { computeExpiry, mergeDefined } from "../../kernel/policy.ts";
import { buildRefusal, interruptedByCrash } from "../../kernel/refusal.ts";
import { decideFacts, type Rule } from "../../kernel/rule.ts";
import type { AskedQuestion, CachedResult, Call, RunState } from "../../kernel/state.ts";
import { isOrdered, isRepeatable, type Tool } from "../../kernel/tool.ts";
import { isHandingOver, isHandoff } from "../handoffs/rules.ts";
import { findNestedWakeTime, isNestedRunWaiting, listActiveRuns } from "../nested/nested-state.ts";
import { findTool } from "./find-tool.ts";

/**
 * Runs the calls that may run now: in parallel, except that a tool with effects waits for the calls before it and blocks
 * the calls after it; one at a time under `sequential`. Suspends if every remaining call waits for the user or the
 * client.
 */
export const runToolCalls: Rule = (context) => {
  const { agent, run } = context;
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.unsettled === 0 || isHandingOver(context)) return undefined;
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
  if (effects.length > 0) return { type: "effects", effects };
  const until = findNestedWakeTime(run);
  return { type: "stop", reason: "waiting", ...(until !== undefined && { until }) };
};

function isOrderedCall(agent: Agent, call: Call): boolean {
  const tool = findTool(agent, call.part.name);
  return tool !== undefined && !call.check?.error && isOrdered(tool);
}

/** Whether the client is running the call and has not answered yet. */
export function isWithClient(agent: Agent, call: Call): boolean {
  const tool = findTool(agent, call.part.name);
  return call.attempt > 0 && !call.check?.error && tool !== undefined && !tool.execute;
}

function buildCallEffect(agent: Agent, run: RunState, call: Call): Effect {
  const { part, check, attempt, questions } = call;
  const { id, name, input, raw } = part;
  const tool = findTool(agent, name);
  const nestedRun = run.nested.get(id)?.run;
  // Decisions are made only when nothing is in flight, so a started call without a result or a question was interrupted
  // by a crash. A refused call has done nothing and is safe to repeat.
  const isCutOff = attempt > (questions.at(-1)?.attempt ?? 0);
  if (isCutOff && !check?.error && !(tool && isRepeatable(tool))) {
    return { type: "note", id: `interrupted.${id}`, facts: [buildRefusal(part, interruptedByCrash)] };
  }
  return {
    ...buildToolEffect(run, tool, { callId: id, name, input: raw ?? input }),
    attempt: attempt + 1,
    ...(check?.error && { refused: check.error }),
    ...pickDigest(call),
    // A separate id, because an engine may identify finished steps by their ids.
    ...(nestedRun && { id: `nested.${nestedRun.waits}.${id}` }),
    ...(questions.length > 0 && {
      id: `answered.${questions.length}.${id}`,
      asked: questions.flatMap(({ question, digest, reply }) => (reply ? { question, digest, reply } : [])),
    }),
  };
}

/** The digest of what the user approved, for this call or with a rule. */
function pickDigest({ check, approval }: Call): { readonly digest?: string } {
  const { digest } = approval?.edit ?? check?.approval ?? check?.rule ?? {};
  return digest === undefined ? {} : { digest };
}

type NamedCall = Pick<ToolEffect, "callId" | "name" | "input">;

/** Builds the effect of a call. A tool's settings override the policy; only repeatable tools are retried. */
export function buildToolEffect(run: RunState, tool: Tool | undefined, call: NamedCall): ToolEffect {
  const { policy } = run;
  const retry = tool?.retry ? mergeDefined(policy.retry, tool.retry) : policy.retry;
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

/** Reuses the cached result of an identical call instead of making the call. */
export const reuseCachedResults: Rule = ({ agent, state, run }) => {
  const { currentTurn } = run;
  if (!currentTurn || currentTurn.unsettled === 0 || state.cache.size === 0) return undefined;
  if (currentTurn.tools === "withdrawn" || currentTurn.tools === "unavailable") return undefined;
  const facts: FactBody[] = [];
  for (const call of currentTurn.calls.values()) {
    if (!mayRun(call, run) || !findTool(agent, call.part.name)?.cacheMs) continue;
    const cached = state.cache.get(toCallKey(call.part));
    if (cached?.cacheUntil !== undefined && cached.cacheUntil > state.at)
      facts.push(reuseResult(cached, call));
  }
  return facts.length > 0 ? decideFacts(`cached.${run.turn}`, ...facts) : undefined;
};

/** Whether the call could run now: not started, valid, and approved if needed. */
function mayRun({ result, attempt, check, approval }: Call, { policy }: RunState): boolean {
  if (result || attempt > 0 || check?.error) return false;
  if (!check?.approval || approval?.approved === true) return true;
  return policy.approvals === "allow" && !check.approval.because;
}

function reuseResult(cached: CachedResult, { part }: Call): FactBody {
  const { name, result, status, data, ui, contexts, affected, reads } = cached;
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

/** Requests all approvals of a turn at once, so that the user can decide on them together. */
export const requestApprovals: Rule = ({ state, run }) => {
  const facts: FactBody[] = [];
  const expiry = computeExpiry(run.policy, state.at);
  for (const call of run.currentTurn?.calls.values() ?? []) {
    const { id, name, input } = call.part;
    if (findOpenQuestion(call) && run.policy.approvals === "deny")
      facts.push({
        type: "approval_resolved",
        callId: id,
        number: call.questions.length,
        ...questionNotAllowed,
      });
    if (!awaitsConsent(call, run) || call.approvalRequest || !call.check?.approval) continue;
    const shown = formatInput(input);
    facts.push({
      type: "approval_required",
      callId: id,
      name,
      input,
      shown,
      ...call.check.approval,
      ...expiry,
    });
  }
  return facts.length > 0 ? decideFacts(`approvals.${run.turn}`, ...facts) : undefined;
};

/**
 * Denies the requests that expired before the last fact, so that the run continues without these calls. The root run
 * also denies the requests of its nested runs, which are suspended with it.
 */
export const expireApprovals: Rule = ({ state, run }) => {
  const facts: FactBody[] = [];
  for (const active of run.parent ? [run] : listActiveRuns(run))
    for (const call of active.currentTurn?.calls.values() ?? [])
      if (hasExpired(call, active, state.at)) facts.push(buildExpiry(call));
  return facts.length > 0 ? decideFacts(`expired.${state.seq}`, ...facts) : undefined;
};

function hasExpired(call: Call, run: RunState, now: number): boolean {
  const request = findOpenQuestion(call) ?? (awaitsConsent(call, run) ? call.approvalRequest : undefined);
  return request?.expiresAt !== undefined && request.expiresAt <= now;
}

/** The reason of a denial after the request expired; the model reads it. */
export const expiredReason =
  "nobody decided before the request expired. Call the tool again if it is still needed.";

function buildExpiry(call: Call): FactBody {
  const number = findOpenQuestion(call) && call.questions.length;
  return {
    type: "approval_resolved",
    callId: call.part.id,
    approved: false,
    reason: expiredReason,
    ...(number !== undefined && { number }),
  };
}

const questionNotAllowed = {
  approved: false,
  reason: "this run does not allow tools to ask questions.",
} as const;

/** Returns the tool's unanswered question, if any. */
export function findOpenQuestion({ questions, result }: Call): AskedQuestion | undefined {
  const last = questions.at(-1);
  return result || last?.reply ? undefined : last;
}

/** Whether the call waits for the user: for an approval, or for the answer to a question. */
export function awaitsApproval(call: Call, run: RunState): boolean {
  return findOpenQuestion(call) !== undefined || awaitsConsent(call, run);
}

export function awaitsConsent(call: Call, run: RunState): boolean {
  const required = call.check?.approval;
  if (call.result || !required || call.approval) return false;
  // `approvals: "allow"` does not cover approvals that the safety gate requires; those are disabled with `gate`.
  return (
    run.policy.approvals === "ask" || (required.because !== undefined && run.policy.approvals === "allow")
  );
}

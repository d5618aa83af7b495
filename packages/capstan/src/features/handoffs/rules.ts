import { toErrorData } from "../../base/errors.ts";
import { type Agent, handoffName } from "../../kernel/agent.ts";
import { isLastTurn } from "../../kernel/budget.ts";
import type { FactBody } from "../../kernel/event.ts";
import type { ResultEntry } from "../../kernel/history.ts";
import { defaultPolicy, findStricter, type HandoffPolicy } from "../../kernel/policy.ts";
import { buildRefusal, settleOpenCalls } from "../../kernel/refusal.ts";
import { buildDone, type Decision, decideFacts, type Rule, type RuleContext } from "../../kernel/rule.ts";
import type { Call, HandoffFrame, RunState } from "../../kernel/state.ts";
import { listCited } from "../citations/fragments.ts";

/** Returns the open handoff calls of a turn once every other call has its result; empty before. */
function listOpenHandoffs({ agent, run }: RuleContext): readonly Call[] {
  const open: Call[] = [];
  if (!run.currentTurn || run.currentTurn.unsettled === 0) return open;
  for (const call of run.currentTurn.calls.values()) {
    if (call.result) continue;
    if (!isHandoff(agent, call)) return [];
    open.push(call);
  }
  return open;
}

/** Whether only handoffs remain in the turn. */
export function isHandingOver(context: RuleContext): boolean {
  return listOpenHandoffs(context).length > 0;
}

/** Denies handoffs that are not allowed and settles a performed one. The first allowed one runs when the turn ends. */
export const settleHandoffCalls: Rule = (context) => {
  const { run } = context;
  const facts: FactBody[] = [];
  let chosen: Call | undefined;
  for (const call of listOpenHandoffs(context)) {
    if (call.handedTo !== undefined)
      return decideFacts(`handed.${call.part.id}`, buildTransferResult(run, call));
    const reason = chosen
      ? `Only one handoff is possible per turn, and this turn hands over to "${getTarget(chosen)}".`
      : findDenial(context, call);
    if (reason === undefined) chosen = call;
    else facts.push(...denyHandoff(call, reason));
  }
  if (facts.length > 0) return decideFacts(`denied.${run.turn}`, ...facts);
  return chosen && handBack(context, chosen);
};

function handBack(context: RuleContext, call: Call): Decision | undefined {
  const frame = context.run.handoffs.at(-1);
  if (!frame || !isHandback(context.run, call)) return undefined;
  const text = getHandoffMessage(call) ?? `"${context.agent.name}" handed back without a message.`;
  return decideFacts(`back.${call.part.id}`, { ...buildReturn(context, frame, text), by: call.part.id });
}

function getHandoffMessage({ part }: Call): string | undefined {
  return typeof part.input.message === "string" ? part.input.message : undefined;
}

function denyHandoff(call: Call, reason: string): FactBody[] {
  const { part } = call;
  return [
    { type: "handoff_denied", callId: part.id, to: getTarget(call), reason },
    buildRefusal(part, { status: "denied", code: "tool_denied", message: reason }),
  ];
}

/** Fails the run after a denied handoff under `onDenied: "fail"`. */
export const failOnDeniedHandoff: Rule = ({ run }) => {
  if (run.denied === undefined) return undefined;
  const error = toErrorData("tool_denied", `A handoff was denied: ${run.denied}`);
  const end = buildDone(run, { status: "failed", text: error.message, error });
  return decideFacts("handoff-denied", ...settleOpenCalls(run), { type: "error", ...error }, end);
};

function buildTransferResult(run: RunState, { part, handedTo }: Call): FactBody {
  const isDone = run.handoffs.at(-1)?.returned !== undefined;
  const text = isDone
    ? `Handed back to "${handedTo}".`
    : `You are now "${handedTo}", and stay in charge. Do what is asked here.`;
  return buildHandoffResult(part, { text });
}

/** At the end of the turn, puts the target in charge, or returns control to the waiting agent. */
export const performHandoff: Rule = (context) => {
  const frame = context.run.handoffs.at(-1);
  if (frame?.returned) {
    const { text, data, error } = frame.returned;
    const cited = listCited(context.state, context.run.citations);
    const answer = { text, ...(data !== undefined && { data }), ...(error && { error }), ...cited };
    return decideFacts(`returned.${frame.call.part.id}`, buildHandoffResult(frame.call.part, answer));
  }
  const [call] = listOpenHandoffs(context);
  return call && decideFacts(`handoff.${call.part.id}`, buildHandoff(context, call));
};

function buildHandoff({ agent, run }: RuleContext, call: Call): FactBody {
  const to = getTarget(call);
  const message = getHandoffMessage(call);
  const target = agent.handoffs?.().find(({ name }) => name === to);
  const rights = findStricter(run.policy, target?.policy);
  return {
    type: "handoff",
    from: agent.name,
    to,
    callId: call.part.id,
    mode: getHandoffPolicy(run).mode,
    ...(message !== undefined && { message }),
    ...(Object.keys(rights).length > 0 && { rights }),
  };
}

type HandoffReturn = Extract<FactBody, { type: "handoff_return" }>;

/** Builds the fact that returns the target's last text to the waiting agent. */
export function buildReturn(
  { agent }: RuleContext,
  { agent: to, call }: HandoffFrame,
  text: string,
): HandoffReturn {
  return { type: "handoff_return", from: agent.name, to, callId: call.part.id, text };
}

/** Returns control without an answer when the target used up its turns; the waiting agent has a turn left. */
export function returnWithoutAnswer(context: RuleContext, frame: HandoffFrame): Decision {
  const { agent, run } = context;
  const lastText = run.currentTurn?.message ? run.lastText : "";
  const message = `"${agent.name}" did not reach an answer within its turns.${lastText && ` Its last message: ${lastText}`}`;
  const error = toErrorData("max_turns", message);
  return decideFacts(`return.${run.turn}`, { ...buildReturn(context, frame, message), error });
}

function buildHandoffResult(
  { id }: Call["part"],
  { text, ...rest }: NonNullable<HandoffFrame["returned"]> & Partial<Pick<ResultEntry, "contexts">>,
): FactBody {
  const status = rest.error ? "error" : "ok";
  const is_error = status === "error";
  return {
    type: "tool_call_result",
    id,
    name: handoffName,
    result: text,
    is_error,
    status,
    attempts: 1,
    ms: 0,
    ...rest,
  };
}

const endedBefore = {
  status: "interrupted",
  code: "tool_interrupted",
  message: "The run ended before the other agent had an answer.",
} as const;

/** Adds results for open handoffs before the end of a run, so that every call has its result. */
export function settleOpenHandoffs(run: RunState, decision: Decision): Decision {
  if (run.handoffs.length === 0 || decision.type !== "effects") return decision;
  const open = run.handoffs.filter(({ call }) => !call.result);
  const closing = open.map(({ call }) => buildRefusal(call.part, endedBefore));
  const effects = decision.effects.map((effect) => {
    const end = effect.type === "note" ? effect.facts.at(-1) : undefined;
    if (effect.type !== "note" || end?.type !== "done") return effect;
    return { ...effect, facts: [...effect.facts.slice(0, -1), ...closing, end] };
  });
  return { ...decision, effects };
}

/** How often two agents may hand off to each other without a tool call in between. */
const maxPasses = 3;

/** Falls back to the default for logs of earlier versions, whose policies do not have the field. */
export function getHandoffPolicy({ policy }: Pick<RunState, "policy">): HandoffPolicy {
  return policy.handoff ?? defaultPolicy.handoff;
}

/** Whether the runtime handles the call: it is a handoff, or a performed one without a result yet. */
export function isHandoff(agent: Agent, { part, check, handedTo }: Call): boolean {
  if (handedTo !== undefined) return true;
  return part.name === handoffName && !check?.error && (agent.handoffs?.().length ?? 0) > 0;
}

export function getTarget({ part }: Call): string {
  return String(part.input.agent);
}

/** Whether the call returns control to the waiting agent. */
export function isHandback(run: RunState, call: Call): boolean {
  return run.handoffs.at(-1)?.agent === getTarget(call);
}

/** Returns why a handoff is not allowed, or undefined. Only the handoffs of the agent in charge count. */
export function findDenial({ agent, run }: RuleContext, call: Call): string | undefined {
  const to = getTarget(call);
  const allowed = listTargets(agent);
  const quoted = JSON.stringify(to.slice(0, 128));
  const list = allowed.length > 0 ? `: ${allowed.join(", ")}.` : " no other agent: answer yourself.";
  if (!allowed.includes(to))
    return `"${agent.name}" cannot hand over to ${quoted}. It may hand over to${list}`;
  const { lastHandoff } = run;
  const isReturned =
    lastHandoff?.from === to &&
    lastHandoff.to === agent.name &&
    lastHandoff.startedCalls === run.startedCalls;
  if (isReturned && lastHandoff.count >= maxPasses)
    return `"${agent.name}" and "${to}" have handed over to each other ${lastHandoff.count} times with nothing new in between. Use a tool, or answer.`;
  if (isHandback(run, call)) return undefined;
  return findHandoffLimit(run);
}

function listTargets(agent: Agent): readonly string[] {
  return (agent.handoffs?.() ?? []).map(({ name }) => name).filter((name) => name !== agent.name);
}

/** Lists the agents that the agent in charge can hand off to now. Handing back is always possible. */
export function listOpenTargets(agent: Agent, run: RunState): readonly string[] {
  const others = listTargets(agent);
  return findHandoffLimit(run) === undefined
    ? others
    : others.filter((name) => name === run.handoffs.at(-1)?.agent);
}

/** Returns the limit that prevents any further handoff, or undefined. */
function findHandoffLimit(run: RunState): string | undefined {
  const { mode, maxDepth } = getHandoffPolicy(run);
  const depth = run.handoffs.length;
  if (mode === "return" && depth >= maxDepth)
    return `${depth} ${depth === 1 ? "agent is" : "agents are"} already waiting for an answer, which is the maximum. Answer yourself.`;
  // A waiting agent keeps one turn for its own answer.
  const waiting = mode === "return" ? 1 : 0;
  if (isLastTurn(run, run.turn + waiting)) return "No turns are left for another agent. Answer yourself.";
  return undefined;
}

import { type Agent, handoffName } from "../agent.ts";
import { errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { foreignLabels } from "../labels.ts";
import { defaultPolicy, type HandoffPolicy, type Policy } from "../policy.ts";
import type { Call, Frame, RunState } from "../state/state.ts";
import { isLastTurn } from "./limits.ts";
import { interruptedCalls, refusal } from "./refusals.ts";
import { type Decision, done, note, type Rule, type View } from "./rule.ts";

/** The calls of a turn that hand over, once every other call has its result; none while one has not. */
function openHandoffs({ agent, run }: View): readonly Call[] {
  const open: Call[] = [];
  if (!run.round || run.round.unsettled === 0) return open;
  for (const call of run.round.calls.values()) {
    if (call.result) continue;
    if (!isHandoff(agent, call)) return [];
    open.push(call);
  }
  return open;
}

/** Whether all that is left of the turn is a handoff. */
export function isHandingOver(view: View): boolean {
  return openHandoffs(view).length > 0;
}

/** Answers the calls that may not hand over, and the one that has. The first that may does so when the turn is over. */
export const handoffCalls: Rule = (view) => {
  const { run } = view;
  const facts: FactBody[] = [];
  let chosen: Call | undefined;
  for (const call of openHandoffs(view)) {
    if (call.handedTo !== undefined) return note(`handed.${call.part.id}`, handedOver(run, call));
    const reason = chosen
      ? `A turn hands over once, and this one does to "${targetOf(chosen)}".`
      : denialOf(view, call);
    if (reason === undefined) chosen = call;
    else facts.push(...denied(call, reason));
  }
  if (facts.length > 0) return note(`denied.${run.turn}`, ...facts);
  return chosen && handingBack(view, chosen);
};

function handingBack(view: View, call: Call): Decision | undefined {
  const frame = view.run.handoffs.at(-1);
  if (!frame || !isBack(view.run, call)) return undefined;
  const text = messageOf(call) ?? `"${view.agent.name}" handed back without a word.`;
  return note(`back.${call.part.id}`, { ...returnTo(view, frame, text), by: call.part.id });
}

function messageOf({ part }: Call): string | undefined {
  return typeof part.input.message === "string" ? part.input.message : undefined;
}

function denied(call: Call, reason: string): FactBody[] {
  const { part } = call;
  return [
    { type: "handoff_denied", callId: part.id, to: targetOf(call), reason },
    refusal(part, { status: "denied", code: "tool_denied", message: reason }),
  ];
}

/** A handoff that may not be ends the run with its turn, where the policy says so. */
export const deniedHandoff: Rule = ({ run }) => {
  if (run.denied === undefined) return undefined;
  const error = errorData("tool_denied", `A handoff was denied: ${run.denied}`);
  const end = done(run, { status: "failed", text: error.message, error });
  return note("handoff-denied", ...interruptedCalls(run), { type: "error", ...error }, end);
};

function handedOver(run: RunState, { part, handedTo }: Call): FactBody {
  const isDone = run.handoffs.at(-1)?.returned !== undefined;
  const text = isDone
    ? `Handed back to "${handedTo}".`
    : `You are now "${handedTo}", and stay in charge. Do what is asked here.`;
  return resultOf(part, { text });
}

/** When the turn is over: the specialist is put in charge, or whoever waited for it is again. */
export const handOver: Rule = (view) => {
  const { agent, run } = view;
  const frame = run.handoffs.at(-1);
  if (frame?.returned) {
    const { text, data, error } = frame.returned;
    const said = { text, ...(data !== undefined && { data }), ...(error && { error }), ...foreign(agent) };
    return note(`returned.${frame.call.part.id}`, resultOf(frame.call.part, said));
  }
  const [call] = openHandoffs(view);
  return call && note(`handoff.${call.part.id}`, handoff(view, call));
};

function handoff({ agent, run }: View, call: Call): FactBody {
  const to = targetOf(call);
  const message = messageOf(call);
  const rights = rightsOf(
    run,
    agent.handoffs?.().find(({ name }) => name === to),
  );
  return {
    type: "handoff",
    from: agent.name,
    to,
    callId: call.part.id,
    mode: handoffPolicy(run).mode,
    ...(message !== undefined && { message }),
    ...(Object.keys(rights).length > 0 && { rights }),
    ...foreign(agent),
  };
}

type Return = Extract<FactBody, { type: "handoff_return" }>;

/** The specialist's last words are the answer that the agent before it waits for. */
export function returnTo({ agent }: View, { agent: to, call }: Frame, text: string): Return {
  return { type: "handoff_return", from: agent.name, to, callId: call.part.id, text };
}

/** The specialist came to no answer within its turns: whoever waits is told, and has a turn left. */
export function returnEmpty(view: View, frame: Frame): Decision {
  const { agent, run } = view;
  const last = run.round?.message ? run.lastText : "";
  const message = `"${agent.name}" came to no answer within its turns.${last && ` Its last words: ${last}`}`;
  const error = errorData("max_turns", message);
  return note(`return.${run.turn}`, { ...returnTo(view, frame, message), error });
}

/** The words of strangers in the descriptions of its tools have reached whoever reads what the agent says. */
function foreign({ tools }: Agent): { reads?: readonly ["untrusted"] } {
  return foreignLabels(tools.values()).untrusted.length > 0 ? { reads: ["untrusted"] } : {};
}

type Said = Pick<NonNullable<Frame["returned"]>, "text" | "data" | "error"> & {
  readonly reads?: readonly ["untrusted"];
};

function resultOf({ id }: Call["part"], { text, ...rest }: Said): FactBody {
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

/** The end of a run answers the handoffs that are still open, so that every call has its result. */
export function closingHandoffs(run: RunState, decision: Decision): Decision {
  if (run.handoffs.length === 0 || decision.type !== "effects") return decision;
  const open = run.handoffs.filter(({ call }) => !call.result);
  const closing = open.map(({ call }) => refusal(call.part, endedBefore));
  const effects = decision.effects.map((effect) => {
    const end = effect.type === "note" ? effect.facts.at(-1) : undefined;
    if (effect.type !== "note" || end?.type !== "done") return effect;
    return { ...effect, facts: [...effect.facts.slice(0, -1), ...closing, end] };
  });
  return { ...decision, effects };
}

/** So often the same two may pass the conversation to and fro with nothing new in between. */
const mostPasses = 3;

/** A log of an earlier version has a policy without it. */
export function handoffPolicy({ policy }: Pick<RunState, "policy">): HandoffPolicy {
  return policy.handoff ?? defaultPolicy.handoff;
}

/** Whether the call is for the runtime: it hands over, or has done so and has no result yet. */
export function isHandoff(agent: Agent, { part, check, handedTo }: Call): boolean {
  if (handedTo !== undefined) return true;
  return part.name === handoffName && !check?.error && (agent.handoffs?.().length ?? 0) > 0;
}

export function targetOf({ part }: Call): string {
  return String(part.input.agent);
}

/** The call gives the conversation back to the agent that waits for it. */
export function isBack(run: RunState, call: Call): boolean {
  return run.handoffs.at(-1)?.agent === targetOf(call);
}

/** Why the call may not hand over; nothing when it may. Only the list of the agent in charge counts. */
export function denialOf({ agent, run }: View, call: Call): string | undefined {
  const to = targetOf(call);
  const allowed = othersOf(agent);
  const quoted = JSON.stringify(to.slice(0, 128));
  const list = allowed.length > 0 ? `: ${allowed.join(", ")}.` : " nobody: answer.";
  if (!allowed.includes(to))
    return `"${agent.name}" cannot hand over to ${quoted}. It may hand over to${list}`;
  const { passing } = run;
  const isReturned = passing?.from === to && passing.to === agent.name && passing.begun === run.begun;
  if (isReturned && passing.count >= mostPasses)
    return `"${agent.name}" and "${to}" have handed over to each other ${passing.count} times with nothing new in between. Use a tool, or answer.`;
  if (isBack(run, call)) return undefined;
  return roomFor(run);
}

function othersOf(agent: Agent): readonly string[] {
  return (agent.handoffs?.() ?? []).map(({ name }) => name).filter((name) => name !== agent.name);
}

/** Whom the agent in charge can hand over to now. The one that waits for it can always be handed back to. */
export function openTargets(agent: Agent, run: RunState): readonly string[] {
  const others = othersOf(agent);
  return roomFor(run) === undefined ? others : others.filter((name) => name === run.handoffs.at(-1)?.agent);
}

/** Why there is no room for another handoff, whoever it is to. */
function roomFor(run: RunState): string | undefined {
  const { mode, maxDepth } = handoffPolicy(run);
  const depth = run.handoffs.length;
  if (mode === "return" && depth >= maxDepth)
    return `${depth} ${depth === 1 ? "agent waits" : "agents wait"} for an answer already, which is the most there may be. Answer yourself.`;
  // Whoever waits keeps one turn for its own answer.
  const waiting = mode === "return" ? 1 : 0;
  if (isLastTurn(run, run.turn + waiting)) return "No turns are left for another agent. Answer yourself.";
  return undefined;
}

const strictness = { gate: ["off", "default", "strict"], approvals: ["allow", "ask", "deny"] } as const;

/** A specialist never has more rights than the run, and never more than it was given itself. */
export function rightsOf(
  run: RunState,
  target: Agent | undefined,
): Partial<Pick<Policy, "gate" | "approvals">> {
  const { gate, approvals } = target?.policy ?? {};
  const isStricter = (order: readonly string[], own: string | undefined, given: string) =>
    own !== undefined && order.indexOf(own) > order.indexOf(given);
  return {
    ...(gate && isStricter(strictness.gate, gate, run.policy.gate) && { gate }),
    ...(approvals && isStricter(strictness.approvals, approvals, run.policy.approvals) && { approvals }),
  };
}

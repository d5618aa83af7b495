import { type Agent, handoffName } from "../agent.ts";
import { defaultPolicy, type HandoffPolicy, type Policy } from "../policy.ts";
import type { Call, RunState } from "../state.ts";
import type { View } from "./rule.ts";
import { isLastTurn } from "./wrap-up.ts";

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

import { type Agent, type Agents, indexAgents } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import { formatInput } from "../escape-text.ts";
import type { Json } from "../json.ts";
import type { Source } from "../labels.ts";
import { findRunByCall } from "../state/nested-state.ts";
import type { Call, RunState } from "../state/state.ts";
import type { Question } from "../tool.ts";
import { awaitsConsent, findOpenQuestion, isWithClient } from "./tool-calls.ts";

/** A call that only a person (`approval`) or a client (`answer`) can move. */
export type PendingCall = {
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  /** The input as a person is to be shown it: with everything visible. */
  readonly shown: string;
  readonly needs: "approval" | "answer";
  readonly reason: string;
  /** Of an approval: what it is bound to. */
  readonly digest?: string;
  /** Of an approval that the safety gate asks for: what made the call suspicious. */
  readonly because?: readonly Source[];
  /** Of a call of a nested run: which run, and of which agent. It is answered like any other. */
  readonly runId?: string;
  readonly agent?: string;
  /** Asked by the tool in the middle of its call: `approve` it with a value, which must be valid by its schema. */
  readonly question?: Omit<Question, "state">;
};

export function listPendingCalls(agents: Agents, run: RunState): PendingCall[] {
  const agent = agents.get(run.agent);
  const pending: PendingCall[] = [];
  for (const call of run.currentTurn?.calls.values() ?? []) {
    if (call.result || !agent) continue;
    const { id: callId, name, input } = call.part;
    const inside = run.nested.get(callId)?.run;
    if (inside) {
      const { id: runId, agent: nested } = inside;
      const calls = inside.done ? [] : listPendingCalls(resolveNestedAgents(agent, call), inside);
      pending.push(...calls.map((one) => ({ runId, agent: nested, ...one })));
      continue;
    }
    const about = { callId, name, input, shown: formatInput(input) };
    const asked = findOpenQuestion(call);
    if (asked) {
      const { state: _, ...question } = asked.question;
      pending.push({ ...about, needs: "approval", reason: asked.reason, digest: asked.digest, question });
    } else if (awaitsConsent(call, run) && call.check?.approval)
      pending.push({ ...about, needs: "approval", ...call.check.approval });
    else if (isWithClient(agent, call))
      pending.push({ ...about, needs: "answer", reason: `The client runs "${name}".` });
  }
  return pending;
}

/** The agents that the run of an agent that is a tool knows. */
function resolveNestedAgents(agent: Agent, { part }: Call): Agents {
  const tool = findTool(agent, part.name);
  return tool?.agent ? indexAgents(tool.agent) : new Map();
}

/** The agent that made a call, in this run or in one that is nested in it. */
export function findAgentByCall(agents: Agents, run: RunState, callId: string): Agent | undefined {
  const agent = agents.get(run.agent);
  if (!agent || run.currentTurn?.calls.has(callId)) return agent;
  for (const call of run.currentTurn?.calls.values() ?? []) {
    const inside = run.nested.get(call.part.id)?.run;
    if (inside && findRunByCall(inside, callId))
      return findAgentByCall(resolveNestedAgents(agent, call), inside, callId);
  }
  return undefined;
}

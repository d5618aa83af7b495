import { type Agent, type Agents, agentsByName } from "./agent.ts";
import { toolOf } from "./builtin-tools.ts";
import { requestTokens } from "./context-size.ts";
import { AgentError, type ErrorCode, type ErrorData, errorCodes } from "./errors.ts";
import type { RunStatus } from "./event.ts";
import type { Citation, Entry } from "./history.ts";
import type { Json } from "./json.ts";
import type { Source } from "./labels.ts";
import type { Usage } from "./model.ts";
import { runOfCall } from "./nested-state.ts";
import { awaitsConsent, openQuestion } from "./rules/approvals.ts";
import { isWithClient } from "./rules/tool-calls.ts";
import type { Call, RunState, State, ToolCallRecord } from "./state.ts";
import type { Question } from "./tool.ts";
import { shownInput } from "./visible.ts";

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

export interface Result {
  readonly status: RunStatus | "waiting";
  /** Always something a person can read. */
  readonly text: string;
  /** The sources of the text, in the order of their first mention. */
  readonly citations: readonly Citation[];
  readonly history: readonly Entry[];
  readonly turns: number;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly reasoning: readonly { readonly turn: number; readonly text: string }[];
  /** What the tools say they changed, in the order it happened. */
  readonly affected: readonly Json[];
  readonly usage: Usage;
  /** In US dollars, as far as prices are known. */
  readonly cost: number;
  /** About how many tokens the next request of the session will have, and the policy's budget for it. */
  readonly context: { readonly tokens: number; readonly budget?: number };
  /** False when tools were tried and the answer stands on none of them. */
  readonly grounded: boolean;
  /** Of an agent with an `output` schema: the answer, valid by it. */
  readonly output?: Json;
  readonly pending: readonly PendingCall[];
  /** Of a run that waits for a time: when it goes on by itself, where an engine looks after it. */
  readonly until?: number;
  readonly error?: ErrorData;
  readonly runId: string;
  readonly sessionId: string;
  /** Who was in charge at the end: the agent of the run, or a specialist that it was handed over to. */
  readonly agent: string;
  /** This result when the run is done, otherwise a throw of its error. */
  orThrow(): Result;
}

export function resultOf(agents: Agents, state: State, run: RunState): Result {
  const { done } = run;
  const pending = done ? [] : pendingCalls(agents, run);
  const result: Result = {
    status: done?.status ?? "waiting",
    text: done?.text ?? waitingText(pending, run.wakeAt),
    // Also of the last words that a limit's answer repeats.
    citations: done?.text.includes(run.lastText) ? run.cited : [],
    history: [...state.history],
    turns: run.turn,
    toolCalls: done ? [...run.toolCalls] : [...run.toolCalls, ...openRecords(run)],
    reasoning: [...run.reasoning],
    affected: [...run.affected],
    usage: run.usage,
    cost: run.usage.cost ?? 0,
    context: contextOf(state, run),
    grounded: done?.grounded ?? true,
    pending,
    ...(!done && run.wakeAt !== undefined && { until: run.wakeAt }),
    ...(done?.output !== undefined && { output: done.output }),
    ...(done?.error && { error: done.error }),
    runId: run.id,
    sessionId: state.sessionId,
    agent: run.agent,
    orThrow() {
      if (result.status === "done") return result;
      throw toError(result);
    },
  };
  return result;
}

function contextOf(state: State, { policy, steering }: RunState): Result["context"] {
  const { contextBudget } = policy;
  const tokens = requestTokens(state, steering);
  return { tokens, ...(typeof contextBudget === "number" && { budget: contextBudget }) };
}

/** Of a turn that is not over: what its calls have given so far. */
function openRecords({ round }: RunState): ToolCallRecord[] {
  if (!round || round.unsettled === 0) return [];
  return [...round.calls.values()].flatMap(({ record }) => record ?? []);
}

function toError({ status, text, error }: Result): AgentError {
  if (!error) return new AgentError("run_ended", `The run is not done (${status}): ${text}`);
  const code = Object.hasOwn(errorCodes, error.code) ? (error.code as ErrorCode) : "model_failed";
  return new AgentError(code, error.message, { cause: error, retryable: error.retryable });
}

export function pendingCalls(agents: Agents, run: RunState): PendingCall[] {
  const agent = agents.get(run.agent);
  const pending: PendingCall[] = [];
  for (const call of run.round?.calls.values() ?? []) {
    if (call.result || !agent) continue;
    const { id: callId, name, input } = call.part;
    const inside = run.nested.get(callId)?.run;
    if (inside) {
      const { id: runId, agent: nested } = inside;
      const calls = inside.done ? [] : pendingCalls(nestedAgents(agent, call), inside);
      pending.push(...calls.map((one) => ({ runId, agent: nested, ...one })));
      continue;
    }
    const about = { callId, name, input, shown: shownInput(input) };
    const asked = openQuestion(call);
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
function nestedAgents(agent: Agent, { part }: Call): Agents {
  const tool = toolOf(agent, part.name);
  return tool?.agent ? agentsByName(tool.agent) : new Map();
}

/** The agent that made a call, in this run or in one that is nested in it. */
export function agentOfCall(agents: Agents, run: RunState, callId: string): Agent | undefined {
  const agent = agents.get(run.agent);
  if (!agent || run.round?.calls.has(callId)) return agent;
  for (const call of run.round?.calls.values() ?? []) {
    const inside = run.nested.get(call.part.id)?.run;
    if (inside && runOfCall(inside, callId)) return agentOfCall(nestedAgents(agent, call), inside, callId);
  }
  return undefined;
}

function waitingText(pending: readonly PendingCall[], until: number | undefined): string {
  if (pending.length === 0 && until !== undefined)
    return `Waiting until ${new Date(until).toISOString()}, because the model's provider asks for it.`;
  const asks = pending.map(({ name, needs, reason, question }) => {
    if (needs === "answer") return `the result of "${name}"`;
    return `your ${question ? "answer to" : "approval of"} "${name}" (${reason})`;
  });
  return asks.length > 0 ? `Waiting for ${asks.join(" and ")}.` : "Waiting.";
}

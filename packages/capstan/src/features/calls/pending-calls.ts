import { formatInput } from "../../base/escape-text.ts";
import { type Agent, type Agents, indexAgents } from "../../kernel/agent.ts";
import type { ApprovalScope } from "../../kernel/approval-scope.ts";
import type { Leak } from "../../kernel/call-check.ts";
import type { UiHint } from "../../kernel/history.ts";
import type { Source } from "../../kernel/provenance.ts";
import type { Call, RunState } from "../../kernel/state.ts";
import type { Question, Tool, ToolCall } from "../../kernel/tool.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { findRunByCall } from "../nested/nested-state.ts";
import { listBackground } from "../nested/progress.ts";
import { findTool } from "./find-tool.ts";
import { awaitsConsent, findOpenQuestion, isWithClient } from "./rules.ts";

/** A call that waits for the user's decision (`approval`) or the client's result (`answer`). */
export type PendingCall<Call extends ToolCall = ToolCall> = Call["call"] & {
  readonly callId: string;
  /** The input formatted for display, with invisible characters escaped. */
  readonly shown: string;
  readonly needs: "approval" | "answer";
  readonly reason: string;
  /** For an approval: the digest of the call it is bound to. */
  readonly digest?: string;
  /** For an approval: the time after which it is denied, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** For an approval required by the safety gate: the sources that make the call suspicious. */
  readonly because?: readonly Source[];
  /** For an approval: private data in the arguments. */
  readonly leaks?: readonly Leak[];
  /** For an approval: the calls that `addApprovalRule` would allow for the rest of the session. */
  readonly always?: ApprovalScope;
  /** For an approval: the wider set of calls that `addApprovalRule(…, "pattern")` would allow. */
  readonly pattern?: ApprovalScope;
  /** For an approval: what the call would do, such as a diff. */
  readonly ui?: UiHint;
  /** For a call of a nested run: the run and its agent. It is answered like any other call. */
  readonly runId?: string;
  readonly agent?: string;
  /** A question the tool asked during its call: `approve` it with a value that matches its schema. */
  readonly question?: Omit<Question, "state">;
};

/** A call that waits for approval as it would be with other arguments, and the schema of its arguments. */
export type CallPreview = PendingCall & { readonly inputSchema?: JsonSchema };

export function listPendingCalls(agents: Agents, run: RunState): PendingCall[] {
  const agent = agents.get(run.agent);
  const pending: PendingCall[] = listBackground(run).flatMap(({ run: background }) =>
    listNestedCalls(findNestedAgents(agents, background), background),
  );
  for (const call of run.currentTurn?.calls.values() ?? []) {
    if (call.result || !agent) continue;
    const { id: callId, name, input } = call.part;
    const nestedRun = run.nested.get(callId)?.run;
    if (nestedRun) {
      if (!nestedRun.done && !nestedRun.isBackground)
        pending.push(...listNestedCalls(resolveNestedAgents(agent, call), nestedRun));
      continue;
    }
    const callInfo = { callId, name, input, shown: formatInput(input) };
    const openQuestion = findOpenQuestion(call);
    if (openQuestion) {
      const { reason, digest } = openQuestion;
      const { state: _, ...question } = openQuestion.question;
      pending.push({ ...callInfo, needs: "approval", reason, digest, ...getExpiry(openQuestion), question });
    } else if (awaitsConsent(call, run) && call.check?.approval)
      pending.push({
        ...{ ...callInfo, needs: "approval" },
        ...call.check.approval,
        ...getExpiry(call.approvalRequest),
      });
    else if (isWithClient(agent, call))
      pending.push({ ...callInfo, needs: "answer", reason: `The client runs "${name}".` });
  }
  return pending;
}

function listNestedCalls(agents: Agents, nestedRun: RunState): readonly PendingCall[] {
  const { id: runId, agent } = nestedRun;
  return listPendingCalls(agents, nestedRun).map((call) => ({ runId, agent, ...call }));
}

const getExpiry = ({ expiresAt }: { readonly expiresAt?: number | undefined } = {}) =>
  expiresAt === undefined ? {} : { expiresAt };

/** Returns the agents available to the nested run of a call. */
function resolveNestedAgents(agent: Agent, { part }: Call): Agents {
  const tool = findTool(agent, part.name);
  return tool?.agent ? indexAgents(tool.agent) : new Map();
}

/** Finds the agent that executes a background run: it answers the calls of the tool that started the run. */
export function findBackgroundAgent(agents: Agents, { parent }: RunState): Agent | undefined {
  for (const caller of agents.values()) {
    const found = parent?.name === undefined ? undefined : findTool(caller, parent.name)?.agent;
    if (found) return found;
  }
  return undefined;
}

function findNestedAgents(agents: Agents, background: RunState): Agents {
  const agent = findBackgroundAgent(agents, background);
  return agent ? indexAgents(agent) : new Map();
}

/** A run and the agents that it can be continued with. */
export type RunWithAgents = { readonly agents: Agents; readonly run: RunState };

/** Finds the agent that made a call, in this run or in a nested one. */
export function findAgentByCall(agents: Agents, run: RunState, callId: string): Agent | undefined {
  const agent = agents.get(run.agent);
  if (!agent || run.currentTurn?.calls.has(callId)) return agent;
  for (const { run: background } of listBackground(run))
    if (findRunByCall(background, callId))
      return findAgentByCall(findNestedAgents(agents, background), background, callId);
  for (const call of run.currentTurn?.calls.values() ?? []) {
    const nestedRun = run.nested.get(call.part.id)?.run;
    if (nestedRun && findRunByCall(nestedRun, callId))
      return findAgentByCall(resolveNestedAgents(agent, call), nestedRun, callId);
  }
  return undefined;
}

/** Finds the tool of a call, in this run or in a nested one. */
export function findCalledTool(
  { agents, run }: RunWithAgents,
  callId: string,
  name: string,
): Tool | undefined {
  const agent = findAgentByCall(agents, run, callId);
  return agent && findTool(agent, name);
}

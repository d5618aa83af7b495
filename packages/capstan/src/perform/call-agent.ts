import { type Agent, indexAgents } from "../agent.ts";
import { findTool } from "../builtin-tools.ts";
import { isDeadline } from "../clock.ts";
import type { ToolEffect } from "../effect.ts";
import { toErrorData } from "../errors.ts";
import { collectForeignLabels, mergeLabels } from "../labels.ts";
import type { PolicyOverrides } from "../policy.ts";
import { listReads } from "../state/nested-state.ts";
import { listAncestors, type RunState } from "../state/state.ts";
import type { Outcome, Reads, Tool } from "../tool.ts";
import { getAgent, type Io } from "./io.ts";
import { createFailedOutcome, interrupted } from "./outcome.ts";

/** What a tool returns that wants an agent to answer its call. */
export type AgentRequest = {
  readonly agent: Agent;
  readonly prompt: string;
  readonly policy: PolicyOverrides;
};

/** Tools that come and go can make an agent its own tool. */
const maxDepth = 8;
const requests = new WeakSet<object>();

/** Marks a request: only what was made here begins a nested run, whatever else looks like it. */
export function createAgentRequest(request: AgentRequest): AgentRequest {
  requests.add(request);
  return request;
}

export function asAgentRequest(returned: unknown): AgentRequest | undefined {
  return typeof returned === "object" && returned !== null && requests.has(returned)
    ? (returned as AgentRequest)
    : undefined;
}

type AgentCall = { readonly effect: ToolEffect; readonly io: Io; readonly signal: AbortSignal };

/** Has an agent answer a call. Nothing while its run waits. Rejects when the journal or the engine failed: that is no outcome. */
export async function callAgent(
  request: AgentRequest,
  { effect, io, signal }: AgentCall,
): Promise<Outcome | undefined> {
  const { callId, name, timeoutMs } = effect;
  if (!io.runNested || effect.isFallback) {
    const message = `"${name}" is an agent, and there is no run here that it could be nested in.`;
    return createFailedOutcome({ ...toErrorData("tool_failed", message), retryable: false });
  }
  if (io.state.run && [...listAncestors(io.state.run)].length >= maxDepth) {
    const message = `Agents are nested ${maxDepth} deep already: "${name}" is not asked. Answer without it.`;
    return createFailedOutcome({ ...toErrorData("tool_failed", message), retryable: false });
  }
  await io.runNested(request, callId, signal);
  const run = io.state.run?.nested.get(callId)?.run;
  if (signal.aborted && isDeadline(signal))
    return createFailedOutcome(
      toErrorData("tool_timeout", `"${name}" gave no result within ${timeoutMs} ms.`),
    );
  if (signal.aborted) return interrupted;
  return run?.done && toOutcome(run, name);
}

/** What the run of an agent has read on its way to an answer, strangers' descriptions of its tools too. */
export function listNestedReads({ callId, agent, name }: ToolEffect, io: Io): readonly Reads[] {
  const inside = io.state.run?.nested.get(callId);
  if (!inside) return [];
  const asked = findTool(getAgent(agent, io), name)?.agent;
  const tools = asked ? [...indexAgents(asked).values()].flatMap(listTools) : [];
  return listReads(mergeLabels(inside.labels, collectForeignLabels(tools)));
}

function listTools({ tools, toolSource }: Agent): readonly Tool[] {
  try {
    return toolSource ? toolSource() : [...tools.values()];
  } catch {
    return []; // then it had none either
  }
}

function toOutcome({ id, turn, done }: RunState, name: string): Outcome {
  const { status = "failed", text = "", error, output } = done ?? {};
  const data = { runId: id, status, turns: turn, ...(output !== undefined && { output }) };
  if (status === "done") return { status: "ok", content: text, data };
  const reason = error ? `${error.message} (${error.code})` : status;
  if (status === "limit")
    return { status: "ok", content: `${text}\n\n[The agent "${name}" was not done: ${reason}]`, data };
  const code = error?.code ?? "tool_failed";
  return {
    ...createFailedOutcome({ code, message: `The agent "${name}" failed: ${reason}`, retryable: false }),
    data,
  };
}

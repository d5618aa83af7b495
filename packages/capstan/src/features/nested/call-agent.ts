import { isDeadline } from "../../base/clock.ts";
import { type ErrorData, isModelError, toErrorData } from "../../base/errors.ts";
import { type Agent, backgroundWorkName } from "../../kernel/agent.ts";
import { spentAgentsMessage } from "../../kernel/budget.ts";
import { createFailedOutcome, interrupted } from "../../kernel/calls/outcome.ts";
import type { ToolEffect } from "../../kernel/effect.ts";
import type { FactBody } from "../../kernel/event.ts";
import type { Io } from "../../kernel/io.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { listReads } from "../../kernel/provenance.ts";
import { listAncestors, type RunState } from "../../kernel/state.ts";
import type { Outcome, Reads } from "../../kernel/tool.ts";
import { listCited } from "../citations/fragments.ts";

/** Returned by a tool that delegates its call to an agent. */
export type AgentRequest = {
  readonly agent: Agent;
  readonly prompt: string;
  readonly policy: PolicyOverrides;
  /** The call returns a receipt, and the answer becomes a message. */
  readonly isBackground?: boolean;
};

/** Dynamic tools can make an agent its own tool, so the nesting is bounded. */
const maxDepth = 8;
const requests = new WeakSet<object>();

/** Marks a request. Only marked objects start a nested run; look-alikes returned by a tool do not. */
export function createAgentRequest(request: AgentRequest): AgentRequest {
  requests.add(request);
  return request;
}

export function asAgentRequest(returned: unknown): AgentRequest | undefined {
  return typeof returned === "object" && returned !== null && requests.has(returned)
    ? (returned as AgentRequest)
    : undefined;
}

type AgentCall = {
  readonly effect: ToolEffect;
  readonly io: Io;
  readonly signal: AbortSignal;
  /** Facts to report besides the result. */
  readonly facts: FactBody[];
};

/**
 * Runs an agent to answer a call. Returns undefined while the nested run waits. Rejects when the journal or the engine
 * fails, because that is not an outcome of the call.
 */
export async function callAgent(
  request: AgentRequest,
  { effect, io, signal, facts }: AgentCall,
): Promise<Outcome | undefined> {
  const { callId, name, timeoutMs } = effect;
  if (!io.runNested || effect.isFallback) {
    const message = `"${name}" is an agent, and there is no run to nest it in.`;
    return createFailedOutcome({ ...toErrorData("tool_failed", message), retryable: false });
  }
  if (io.state.run && listAncestors(io.state.run).length >= maxDepth) {
    const message = `Agents are already nested ${maxDepth} deep, so "${name}" was not called. Answer without it.`;
    return createFailedOutcome({ ...toErrorData("tool_failed", message), retryable: false });
  }
  if (!(await io.runNested(request, callId, signal))) {
    const error = toErrorData("budget_agents", `${spentAgentsMessage} "${name}" was not called.`);
    facts.push({ type: "warning", code: error.code, message: error.message });
    return createFailedOutcome(error);
  }
  if (request.isBackground && !signal.aborted) return createReceipt(io, effect);
  const nested = io.state.run?.nested.get(callId);
  const run = nested?.run;
  if (signal.aborted && isDeadline(signal))
    return createFailedOutcome(
      toErrorData("tool_timeout", `"${name}" gave no result within ${timeoutMs} ms.`),
    );
  if (signal.aborted) return interrupted;
  return nested && run?.done && { ...toOutcome(run, name), ...listCited(nested, run.citations) };
}

/** Lists the labels of everything the nested run has read. The receipt of a background run tells nothing of it. */
export function listNestedReads({ callId }: ToolEffect, { state }: Io): readonly Reads[] {
  const nestedState = state.run?.nested.get(callId);
  return nestedState && !nestedState.run?.isBackground ? listReads(nestedState.labels) : [];
}

function createReceipt({ state }: Io, { callId, name }: ToolEffect): Outcome {
  const ended = state.run?.endedWork.find((work) => work.callId === callId);
  const runId = ended?.runId ?? state.run?.nested.get(callId)?.run?.id ?? "";
  return {
    status: "ok",
    content:
      `"${name}" works in the background as "${runId}". Go on with other work, or end your turn: ` +
      "the result arrives as a message. Do not start the same work again. " +
      `${backgroundWorkName} lists, waits for and cancels background work.`,
    message: `"${name}" works in the background. Its result follows.`,
    data: { runId, status: "running" },
  };
}

/** Without the text of a model's provider, which the calling model could repeat to the user. The nested run has it. */
function formatNestedError({ code, message }: ErrorData): string {
  return isModelError(code) ? code : `${message} (${code})`;
}

function toOutcome({ id, turn, done }: RunState, name: string): Outcome {
  const { status = "failed", text = "", error, output } = done ?? {};
  const data = { runId: id, status, turns: turn, ...(output !== undefined && { output }) };
  if (status === "done") return { status: "ok", content: text, data };
  const reason = error ? formatNestedError(error) : status;
  if (status === "limit")
    return { status: "ok", content: `${text}\n\n[The agent "${name}" did not finish: ${reason}]`, data };
  const code = error?.code ?? "tool_failed";
  // A program is not an agent for the calling model, which wrote it.
  const message =
    code === "program_failed" ? (error?.message ?? "") : `The agent "${name}" failed: ${reason}`;
  return { ...createFailedOutcome({ code, message, retryable: false }), data };
}

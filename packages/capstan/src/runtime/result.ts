import { AgentError, type ErrorCode, type ErrorData, errorCodes } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { listPendingCalls, type PendingCall } from "../features/calls/pending-calls.ts";
import type { Agents } from "../kernel/agent.ts";
import { findThrown } from "../kernel/calls/report-thrown.ts";
import { estimateRequestTokens } from "../kernel/context-size.ts";
import type { RunStatus } from "../kernel/event.ts";
import type { Citation, Entry, GeneratedMedia } from "../kernel/history.ts";
import type { MessageEnd, Usage } from "../kernel/model.ts";
import type { RunState, State, ToolCallRecord } from "../kernel/state.ts";
import type { ToolCall } from "../kernel/tool.ts";

/** The result of a run that is done has the `output` of the agent's schema; no other result has one. */
export type Result<Output = Json | undefined, Call extends ToolCall = ToolCall> =
  | DoneResult<Output, Call>
  | UnfinishedResult<Output, Call>;

export type DoneResult<Output = Json | undefined, Call extends ToolCall = ToolCall> = ResultFields<
  Output,
  Call
> & { readonly status: "done"; readonly output: Output };

type UnfinishedResult<Output, Call extends ToolCall> = ResultFields<Output, Call> & {
  readonly status: Exclude<RunStatus, "done"> | "waiting";
  readonly output?: undefined;
};

/** A result as data, without its method. */
export type ResultData<Output = Json | undefined, Call extends ToolCall = ToolCall> =
  | Omit<DoneResult<Output, Call>, "orThrow">
  | Omit<UnfinishedResult<Output, Call>, "orThrow">;

interface ResultFields<Output, Call extends ToolCall> {
  /** Human-readable text for every status. */
  readonly text: string;
  /**
   * Why the model stopped in its last answer; `aborted` if the run was cancelled meanwhile. Missing if no model answered.
   * Only `end` and `tool_calls` are complete answers.
   */
  readonly stopReason?: MessageEnd;
  /** Sources cited in the text, in order of first mention. */
  readonly citations: readonly Citation[];
  /** Generated media, in order. The bytes of each are the blob `handle` of the session in the store. */
  readonly media: readonly GeneratedMedia[];
  readonly history: readonly Entry[];
  readonly turns: number;
  readonly toolCalls: readonly ToolCallRecord<Call>[];
  readonly reasoning: readonly { readonly turn: number; readonly text: string }[];
  /** Changes reported by the tools, in order. */
  readonly affected: readonly Json[];
  readonly usage: Usage;
  /** In US dollars; calls of models without a known price are not included. */
  readonly cost: number;
  /** Estimated tokens of the session's next request, and the policy's budget for it. */
  readonly context: { readonly tokens: number; readonly budget?: number };
  /**
   * False when tools were called but all of them failed, when a required search was skipped, or when tools have searched
   * and no cited passage supports the answer.
   */
  readonly grounded: boolean;
  readonly pending: readonly PendingCall<Call>[];
  /** When a run that waits for a point in time resumes at the latest, if an engine manages it. */
  readonly until?: number;
  /** The failure that such a run waits out. */
  readonly outage?: { readonly model: string; readonly error: ErrorData };
  readonly error?: ErrorData;
  /** The run failed because of its model, or was quarantined: `retry` continues it. */
  readonly canRetry?: true;
  readonly runId: string;
  readonly sessionId: string;
  /** The agent in charge at the end: the run's own agent, or the target of the last handoff. */
  readonly agent: string;
  /**
   * Returns this result if the run is done; throws its error otherwise. The `cause` is what a tool or the model threw, if
   * that was in this process.
   */
  orThrow(): DoneResult<Output, Call>;
}

export function buildResult(agents: Agents, state: State, run: RunState): Result {
  const { done } = run;
  const pending = done ? [] : listPendingCalls(agents, run);
  const outage = done ? undefined : findOutage(run);
  const result: Result = {
    ...getStatus(done),
    text: done?.text ?? formatWaiting(pending, run.wakeAt, outage),
    ...(run.stopReason && { stopReason: run.stopReason }),
    // Keep the citations when the answer at a limit repeats the last text.
    citations: done?.text.includes(run.lastText) ? run.citations : [],
    media: [...run.media],
    history: [...state.history],
    turns: run.turn,
    toolCalls: done ? [...run.toolCalls] : [...run.toolCalls, ...listOpenRecords(run)],
    reasoning: [...run.reasoning],
    affected: [...run.affected],
    usage: run.usage,
    cost: run.usage.cost ?? 0,
    context: estimateContext(state, run),
    grounded: done?.grounded ?? true,
    pending,
    ...(!done && run.wakeAt !== undefined && { until: run.wakeAt }),
    ...(outage && { outage }),
    ...(done?.error && { error: done.error }),
    ...(done?.canRetry && { canRetry: true }),
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

function getStatus(
  done: RunState["done"],
): Pick<UnfinishedResult<unknown, ToolCall>, "status"> | Pick<DoneResult, "status" | "output"> {
  if (done?.status !== "done") return { status: done?.status ?? "waiting" };
  return { status: "done", output: done.output };
}

function estimateContext(state: State, { policy, steering }: RunState): Result["context"] {
  const { contextBudget } = policy;
  const tokens = estimateRequestTokens(state, steering);
  return { tokens, ...(typeof contextBudget === "number" && { budget: contextBudget }) };
}

/** Lists the finished calls of a turn that is still open. */
function listOpenRecords({ currentTurn }: RunState): ToolCallRecord[] {
  if (!currentTurn || currentTurn.unsettled === 0) return [];
  return [...currentTurn.calls.values()].flatMap(({ record }) => record ?? []);
}

function toError({ status, text, error }: Result): AgentError {
  if (!error) return new AgentError("run_ended", `The run is not done (${status}): ${text}`);
  const code = Object.hasOwn(errorCodes, error.code) ? (error.code as ErrorCode) : "model_failed";
  return new AgentError(code, error.message, {
    cause: findThrown(error) ?? error,
    retryable: error.retryable,
  });
}

/** Returns the failure that the run, or one of its nested runs, waits out. */
function findOutage({ wakeAt, currentTurn, nested }: RunState): Result["outage"] {
  if (wakeAt === undefined) return undefined;
  const { model, error } = currentTurn?.failure ?? {};
  if (model !== undefined && error) return { model, error };
  for (const { run } of nested.values()) {
    const outage = run && findOutage(run);
    if (outage) return outage;
  }
  return undefined;
}

function formatWaiting(
  pending: readonly PendingCall[],
  until: number | undefined,
  outage: Result["outage"],
): string {
  if (pending.length === 0 && until !== undefined) {
    const reason = outage ? `: ${outage.error.message}` : ", as requested by the model provider.";
    return `Waiting until ${new Date(until).toISOString()}${reason}`;
  }
  const asks = pending.map(({ name, needs, reason, question }) => {
    if (needs === "answer") return `the result of "${name}"`;
    return `your ${question ? "answer to" : "approval of"} "${name}" (${reason})`;
  });
  return asks.length > 0 ? `Waiting for ${asks.join(" and ")}.` : "Waiting.";
}

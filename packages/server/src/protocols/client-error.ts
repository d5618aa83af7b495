import { AgentError, type ErrorCode, type Event, errorCodes, isModelError } from "capstan";
import type { Caller } from "../access/caller.ts";
import { isClientError } from "../http/problem.ts";

export type ClientError = { readonly code: string; readonly message: string };

/** Whether the message of a failed run is for the log only. A provider's may reveal the server's keys, accounts and URLs. */
export function isInternal(code: string): boolean {
  const status = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500;
  return (status >= 500 && status !== 503) || isModelError(code);
}

/**
 * Returns the error to log when a run failed internally or at its provider; undefined for other events. `cause` is what
 * its model threw.
 */
export function findFailure(event: Event, cause: unknown): AgentError | undefined {
  if (event.type !== "done" || event.status !== "failed" || event.parentRunId !== undefined) return undefined;
  const { error } = event;
  if (!error || !isInternal(error.code)) return undefined;
  return new AgentError(error.code as ErrorCode, error.message, cause === undefined ? {} : { cause });
}

/** Log id of a failed run. Derived from the run, so every reader sees the same id. */
export function buildFailureId(runId: string): string {
  return `err_${runId}`;
}

/** Converts a run's error for a caller. Only admins see internal messages. */
export function toClientError(
  { code, message }: ClientError,
  { isAdmin }: Pick<Caller, "isAdmin">,
  runId: string,
): ClientError {
  if (isAdmin || !isInternal(code)) return { code, message };
  return {
    code,
    message: `${summarizeCode(code)} The server's log has the details under ${buildFailureId(runId)}.`,
  };
}

/** Describes an error without its message. */
export function summarizeCode(code: string): string {
  if (code === "output_invalid") return "The model's answer does not match the required schema.";
  if (code === "context_overflow") return "The conversation is too long for the agent's model.";
  if (code === "model_rate_limited") return "The agent's model has reached its rate limit.";
  if (code === "model_overloaded") return "The agent's model is overloaded.";
  if (isModelError(code) || code === "output_truncated" || code === "answer_incomplete")
    return "The agent's model failed to answer.";
  return "Internal server error.";
}

/** Converts a thrown error for clients. Internal errors are logged with `report`. */
export function toAgentError(thrown: unknown, report: (thrown: unknown) => string): AgentError {
  if (isClientError(thrown)) return thrown;
  return new AgentError(
    "internal",
    `Internal server error. The server's log has the details under ${report(thrown)}.`,
  );
}

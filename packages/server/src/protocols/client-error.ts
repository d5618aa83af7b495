import { AgentError, type ErrorCode, type Event, errorCodes } from "capstan";
import type { Caller } from "../access/caller.ts";
import { isForClients } from "../http/problem.ts";

type Shown = { readonly code: string; readonly message: string };

/** What a provider said of its own: it may tell of keys, accounts and addresses that are the server's. */
const providers: readonly string[] = ["model_auth", "model_rejected", "model_not_found"];

/** What a model said, or did not say, that is no answer. */
const noAnswers: readonly string[] =
  "bad_chunk chunk_too_large stream_truncated empty_response output_truncated".split(" ");

/** Whether what is said of a failed run is for the log alone: the words of a provider, or of the inside. */
function isForLog(code: string): boolean {
  const status = Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : 500;
  return (status >= 500 && status !== 503) || providers.includes(code);
}

/** What the log is told of a run that has failed inside, or by its provider; undefined for any other event. */
export function failureIn(event: Event): AgentError | undefined {
  if (event.type !== "done" || event.status !== "failed" || event.parentRunId !== undefined) return undefined;
  const { error } = event;
  return error && isForLog(error.code) ? new AgentError(error.code as ErrorCode, error.message) : undefined;
}

/** Under which the log has why a run failed: it follows from the run, so that whoever reads it is told the same, whenever. */
export function failureId(runId: string): string {
  return `err_${runId}`;
}

/** Why a run failed, for whoever asked: what is for the log is for those who look after the server. */
export function shownError(
  { code, message }: Shown,
  { isAdmin }: Pick<Caller, "isAdmin">,
  runId: string,
): Shown {
  if (isAdmin || !isForLog(code)) return { code, message };
  return { code, message: `${summaryOf(code)} The log of the server says why, under ${failureId(runId)}.` };
}

function summaryOf(code: string): string {
  if (code === "output_invalid") return "The answer of the model does not fit the schema that it must have.";
  if (code.startsWith("model_") || noAnswers.includes(code))
    return "The model behind this agent could not answer.";
  return "Something went wrong inside of the server.";
}

/** What was thrown while a run was on, as what may be shown of it. `report` keeps the rest for the log. */
export function shownThrown(thrown: unknown, report: (thrown: unknown) => string): AgentError {
  if (isForClients(thrown)) return thrown;
  return new AgentError(
    "internal",
    `Something went wrong inside of the server. Its log says what, under ${report(thrown)}.`,
  );
}

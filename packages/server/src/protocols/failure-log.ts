import { AgentError, type ErrorSource, type Event, errorCodes } from "capstan";
import { buildFailureId, findFailure } from "./client-error.ts";

/** Logs failed runs, and what their tools and models throw, with its stack: for the operator, never for clients. */
export interface FailureLog {
  /** The hook of all runs. Logs what a tool throws at once, and keeps what a model throws: its run may go on. */
  onError(thrown: unknown, source: ErrorSource): void;
  /** Logs the failure of a run once, with what its model threw last. */
  onEvent(event: Event): void;
}

/** A run that is released to another process never ends here. */
const maxRuns = 1000;

export function createFailureLog(report: (thrown: unknown, id: string) => unknown): FailureLog {
  const modelErrors = new Map<string, unknown>();
  return {
    onError(thrown, { type, runId, name, agent }) {
      if (type === "model") {
        modelErrors.set(runId, thrown);
        if (modelErrors.size > maxRuns) modelErrors.delete(modelErrors.keys().next().value ?? "");
      } else if (!isMeant(thrown)) {
        const { message = thrown } = Object(thrown) as { readonly message?: unknown };
        const text = `The tool "${name}" of the agent "${agent}" failed: ${message}`;
        report(new AgentError("tool_failed", text, { cause: thrown }), buildFailureId(runId));
      }
    },
    onEvent(event) {
      if (event.type !== "done") return;
      const { runId } = event;
      const failure = findFailure(event, modelErrors.get(runId));
      modelErrors.delete(runId);
      if (failure) report(failure, buildFailureId(runId));
    },
  };
}

/** Whether a tool reports a failure on purpose: with a code of this library, and without a cause. */
function isMeant(thrown: unknown): boolean {
  const { code, cause } = Object(thrown) as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === "string" && Object.hasOwn(errorCodes, code) && cause === undefined;
}

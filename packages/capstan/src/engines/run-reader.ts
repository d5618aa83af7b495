import type { LocalEngine } from "./local-engine.ts";
import {
  checkStoredMessage,
  loadResult,
  loadRunState,
  loadTurnRequest,
  type RunLocation,
} from "./stored-run.ts";
import { listStuckRuns } from "./stuck-runs.ts";

type RunReader = Pick<LocalEngine, "getResult" | "getTurnRequest" | "checkMessage" | "listStuck">;

/** Reads runs from the store, whichever process executes them. */
export function createRunReader(source: Omit<RunLocation, "runId">): RunReader {
  return {
    getResult: (runId) => loadResult({ ...source, runId }),
    getTurnRequest: (runId, turn, options = {}) => loadTurnRequest({ ...source, runId }, turn, options),
    checkMessage: (runId, message) => checkStoredMessage({ ...source, runId }, message),
    listStuck: (filter) =>
      listStuckRuns({ ...source, load: (runId) => loadRunState({ ...source, runId }) }, filter),
  };
}

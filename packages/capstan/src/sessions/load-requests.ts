import { AgentError } from "../base/errors.ts";
import { rebuildRequests } from "../features/exact-requests/rebuild-request.ts";
import type { ExactRequest } from "../features/exact-requests/stored-request.ts";
import type { Store } from "../runtime/store.ts";

export type TurnLocation = {
  /** Id of a run, not of a nested one. */
  readonly runId: string;
  readonly turn: number;
  /** Selects the turn of the nested run that answers this call. */
  readonly callId?: string | undefined;
};

/**
 * Returns the requests to models of a turn exactly as they were sent, with secrets masked, in the order they were sent:
 * attempts that failed, summaries and the answer. Rejects with `unknown_run`, or with `not_found` if none is stored.
 */
export async function loadRequests(
  store: Store,
  { runId, turn, callId }: TurnLocation,
): Promise<readonly ExactRequest[]> {
  const sessionId = await store.findSession(runId);
  if (sessionId === undefined) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
  const place = { runId: callId === undefined ? runId : `${runId}~${callId}`, turn };
  const stored = (await store.readRequests?.(sessionId, { turn: place })) ?? [];
  if (stored.length === 0) throw await createMissingError({ store, sessionId }, place);
  return rebuildRequests({ store, sessionId }, stored);
}

async function createMissingError(
  { store, sessionId }: { readonly store: Store; readonly sessionId: string },
  { runId, turn }: TurnLocation,
): Promise<AgentError> {
  const subject = `No model request is stored for turn ${turn} of the run "${runId}"`;
  if (!store.readRequests)
    return new AgentError("not_found", `${subject}: this store does not keep requests.`);
  const hasOthers = (await store.readRequests(sessionId, { last: 1 })).length > 0;
  const reason = hasOthers
    ? "the run has no such turn, or its model was not called in it"
    : "the session was imported, or stored by a version of Capstan that did not keep requests";
  return new AgentError("not_found", `${subject}: ${reason}.`);
}

import type { RunInfo, Store } from "capstan";
import { getScope } from "capstan/sessions";
import { loadOrigin } from "./branches.ts";

/** The details of a session that a list shows next to its title. */
export type ListDetails = {
  /** The agent of its newest run. */
  readonly agent?: string;
  /** The state of its newest run. */
  readonly state?: RunInfo["state"];
  /** The id of the session it was forked from. */
  readonly origin?: string;
};

/** Loads what a list shows of a session. */
export async function loadListDetails(store: Store, sessionId: string): Promise<ListDetails> {
  const [[run], origin] = await Promise.all([store.listRuns(sessionId, 1), loadOrigin(store, sessionId)]);
  const isSameUser = origin !== undefined && getScope(origin.sessionId) === getScope(sessionId);
  return {
    ...(run && { agent: run.agent, state: run.state }),
    ...(isSameUser && { origin: origin.sessionId }),
  };
}

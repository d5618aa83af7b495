import { getScope } from "../store.ts";

/** Limits how many places of a process the runs of one user have, so that another user's first run finds one. */
export interface UserShare {
  /** Whether the user of the session may have another run in this process. */
  hasPlace(sessionId: string): boolean;
  add(run: { readonly runId: string; readonly sessionId: string }): void;
  remove(runId: string): void;
}

export type UserShareOptions = { readonly maxRuns: number; readonly maxRunsPerUser?: number | undefined };

/** By default, a user leaves a tenth of the places to others. */
const defaultShare = 0.9;

export function createUserShare({ maxRuns, maxRunsPerUser }: UserShareOptions): UserShare {
  const limit = maxRunsPerUser ?? Math.ceil(maxRuns * defaultShare);
  const users = new Map<string, string>();
  return {
    hasPlace(sessionId) {
      const user = getScope(sessionId);
      if (user === "") return true; // sessions without a user share nothing
      let count = 0;
      for (const other of users.values()) if (other === user) count += 1;
      return count < limit;
    },
    add: ({ runId, sessionId }) => void users.set(runId, getScope(sessionId)),
    remove: (runId) => void users.delete(runId),
  };
}

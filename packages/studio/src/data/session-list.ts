import type { ListedSession } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type SessionList = {
  readonly sessions: readonly ListedSession[] | undefined;
  readonly error: string | undefined;
  /** Reloads the list. */
  readonly refresh: () => Promise<void>;
};

let requestCount = 0;

/** The user's sessions, newest first. */
export const useSessionList: UseBoundStore<StoreApi<SessionList>> = create<SessionList>()((set) => ({
  sessions: undefined,
  error: undefined,
  async refresh() {
    requestCount += 1;
    const requestNumber = requestCount;
    const result = await client.sessions.list({ most: 200 }).then(
      (sessions) => ({ sessions, error: undefined }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    // Ignore responses that arrive out of order.
    if (requestNumber === requestCount) set(result);
  },
}));

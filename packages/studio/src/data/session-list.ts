import type { SessionListItem } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type SessionList = {
  readonly sessions: readonly SessionListItem[] | undefined;
  readonly error: string | undefined;
  /** Position of the next page; undefined at the end of the list. */
  readonly next: string | undefined;
  /** Reloads the list from its start. */
  readonly refresh: () => Promise<void>;
  /** Adds the next page. */
  readonly loadMore: () => Promise<void>;
};

const pageSize = 200;

let requestCount = 0;

/** The user's sessions, newest first. */
export const useSessionList: UseBoundStore<StoreApi<SessionList>> = create<SessionList>()((set, get) => ({
  sessions: undefined,
  error: undefined,
  next: undefined,
  async refresh() {
    requestCount += 1;
    const requestNumber = requestCount;
    const result = await client.sessions.listPage({ most: pageSize, details: true }).then(
      ({ sessions, next }) => ({ sessions, next, error: undefined }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    // Ignore responses that arrive out of order.
    if (requestNumber === requestCount) set(result);
  },
  async loadMore() {
    const { next: cursor, sessions: listed = [] } = get();
    if (cursor === undefined) return;
    requestCount += 1;
    const requestNumber = requestCount;
    const result = await client.sessions.listPage({ most: pageSize, details: true, cursor }).then(
      ({ sessions, next }) => ({ sessions: [...listed, ...sessions], next, error: undefined }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    if (requestNumber === requestCount) set(result);
  },
}));

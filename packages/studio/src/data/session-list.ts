import type { ListedSession } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type SessionList = {
  readonly sessions: readonly ListedSession[] | undefined;
  readonly error: string | undefined;
  /** Asks the server again. */
  readonly refresh: () => Promise<void>;
};

let asked = 0;

/** The sessions of the person, the newest first. */
export const useSessionList: UseBoundStore<StoreApi<SessionList>> = create<SessionList>()((set) => ({
  sessions: undefined,
  error: undefined,
  async refresh() {
    asked += 1;
    const turn = asked;
    const answer = await client.sessions.list({ most: 200 }).then(
      (sessions) => ({ sessions, error: undefined }),
      (thrown: unknown) => ({ error: thrown instanceof Error ? thrown.message : String(thrown) }),
    );
    // An answer that was overtaken knows less than what is shown.
    if (turn === asked) set(answer);
  },
}));

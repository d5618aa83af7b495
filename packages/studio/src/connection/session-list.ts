import type { ListedSession } from "capstan/client";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

type SessionList = {
  readonly sessions: readonly ListedSession[] | undefined;
  readonly error: string | undefined;
  /** Asks the server again. */
  readonly refresh: () => Promise<void>;
};

/** The sessions of the person, the newest first. */
export const useSessionList: UseBoundStore<StoreApi<SessionList>> = create<SessionList>()((set) => ({
  sessions: undefined,
  error: undefined,
  async refresh() {
    try {
      set({ sessions: await client.sessions.list({ most: 200 }), error: undefined });
    } catch (thrown) {
      set({ error: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  },
}));

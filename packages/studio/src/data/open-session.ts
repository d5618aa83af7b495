import type { Fact } from "capstan";
import type { SessionView, SessionWatch, WatchState } from "capstan/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";
import { throttleHistory } from "./throttle-history.ts";

/** The session that is shown: view, facts and connection status. */
export type OpenSession = {
  readonly id: string;
  readonly view: SessionView;
  /** The list is mutated as it grows; compare `view.seq`. */
  readonly facts: readonly Fact[];
  readonly state: WatchState;
  readonly watch: SessionWatch;
};

type SharedWatch = Pick<SessionWatch, "subscribe"> & { readonly watch: SessionWatch; users: number };

/** One shared watch per session that is shown, and one more if all its facts are needed. */
const watches = new Map<string, SharedWatch>();
/** Facts that are loaded at first. */
const tail = 1000;
/** Keeps a watch open for the next page that shows the same session. */
const releaseDelayMs = 2000;

function createSharedWatch(id: string, isWhole: boolean): SharedWatch {
  const watch = client.watch(id, isWhole ? {} : { tail });
  return { watch, subscribe: throttleHistory(watch), users: 0 };
}

const getWatchKey = (id: string, isWhole: boolean) => (isWhole ? `${id} whole` : id);

function acquireWatch(id: string, isWhole: boolean): { readonly shared: SharedWatch; release(): void } {
  const key = getWatchKey(id, isWhole);
  const shared = watches.get(key) ?? createSharedWatch(id, isWhole);
  watches.set(key, shared);
  shared.users++;
  return {
    shared,
    release() {
      shared.users--;
      setTimeout(() => {
        if (shared.users > 0 || watches.get(key) !== shared) return;
        watches.delete(key);
        shared.watch.close();
      }, releaseDelayMs);
    },
  };
}

/** Closes the watch, so that the session is loaded again when it is shown next. */
export function dropWatch(id: string): void {
  for (const key of [getWatchKey(id, false), getWatchKey(id, true)]) {
    watches.get(key)?.watch.close();
    watches.delete(key);
  }
}

/** Sessions deleted on this page. A URL or the browser history may still point to them. */
export const useDeletedSessions: UseBoundStore<StoreApi<{ readonly ids: readonly string[] }>> = create<{
  readonly ids: readonly string[];
}>()(() => ({ ids: [] }));

/** Deletes a session and closes its watch. */
export async function deleteSession(id: string): Promise<void> {
  await client.sessions.remove(id);
  useDeletedSessions.setState(({ ids }) => ({ ids: [...ids, id] }));
  dropWatch(id);
}

/** Follows a session while the component is mounted. Loads its last facts, with `isWhole` the whole session. */
export function useOpenSession(
  id: string,
  options: { readonly isWhole?: boolean } = {},
): OpenSession | undefined {
  const { isWhole = false } = options;
  const [{ watch, subscribe } = noWatch, setShared] = useState<SharedWatch>();
  useEffect(() => {
    const { shared, release } = acquireWatch(id, isWhole);
    setShared(shared);
    return release;
  }, [id, isWhole]);
  const view = useSyncExternalStore(subscribe, () => watch?.view());
  const state = useSyncExternalStore(subscribe, () => watch?.state());
  if (!watch || !view || !state) return undefined;
  return { id, view, state, watch, facts: watch.facts() };
}

const noWatch = { watch: undefined, subscribe: () => () => undefined };

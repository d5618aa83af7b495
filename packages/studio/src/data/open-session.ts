import type { Fact } from "capstan";
import type { SessionView, SessionWatch, WatchState } from "capstan/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";

/** The session that is shown: view, facts and connection status. */
export type OpenSession = {
  readonly id: string;
  readonly view: SessionView;
  /** The list is mutated as it grows; compare `view.seq`. */
  readonly facts: readonly Fact[];
  readonly state: WatchState;
  readonly watch: SessionWatch;
};

type Subscribe = SessionWatch["subscribe"];
type SharedWatch = { readonly watch: SessionWatch; readonly subscribe: Subscribe; users: number };

/** One shared watch per session that is shown. */
const watches = new Map<string, SharedWatch>();
/** Keeps a watch open for the next page that shows the same session. */
const releaseDelayMs = 2000;

/** Larger batches are history that is still loading. */
const historyBatchSize = 150;
const historyIntervalMs = 120;

/** Throttles notifications while a long session is loading. */
function throttleHistory(watch: SessionWatch): Subscribe {
  return (listener) => {
    let notifiedCount = watch.facts().length;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function notify(): void {
      clearTimeout(timer);
      timer = undefined;
      notifiedCount = watch.facts().length;
      listener();
    }
    const unsubscribe = watch.subscribe(() => {
      // Fold incrementally, so that little work is left for rendering.
      watch.view();
      if (watch.facts().length - notifiedCount < historyBatchSize) notify();
      else timer ??= setTimeout(notify, historyIntervalMs);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  };
}

function createSharedWatch(id: string): SharedWatch {
  const watch = client.watch(id);
  return { watch, subscribe: throttleHistory(watch), users: 0 };
}

function acquireWatch(id: string): { readonly shared: SharedWatch; release(): void } {
  const shared = watches.get(id) ?? createSharedWatch(id);
  watches.set(id, shared);
  shared.users++;
  return {
    shared,
    release() {
      shared.users--;
      setTimeout(() => {
        if (shared.users > 0 || watches.get(id) !== shared) return;
        watches.delete(id);
        shared.watch.close();
      }, releaseDelayMs);
    },
  };
}

/** Closes the watch, so that the session is loaded again when it is shown next. */
export function dropWatch(id: string): void {
  watches.get(id)?.watch.close();
  watches.delete(id);
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

/** Follows a session while the component is mounted. */
export function useOpenSession(id: string): OpenSession | undefined {
  const [{ watch, subscribe } = noWatch, setShared] = useState<SharedWatch>();
  useEffect(() => {
    const { shared, release } = acquireWatch(id);
    setShared(shared);
    return release;
  }, [id]);
  const view = useSyncExternalStore(subscribe, () => watch?.view());
  const state = useSyncExternalStore(subscribe, () => watch?.state());
  if (!watch || !view || !state) return undefined;
  return { id, view, state, watch, facts: watch.facts() };
}

const noWatch = { watch: undefined, subscribe: () => () => undefined };

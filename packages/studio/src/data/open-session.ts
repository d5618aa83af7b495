import type { Fact } from "capstan";
import type { SessionView, SessionWatch, WatchState } from "capstan/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { client } from "./client.ts";
import { factIndex } from "./fact-index.ts";

/** The session that is shown: its view, the facts behind it, and how we stand with the server. */
export type OpenSession = {
  readonly id: string;
  readonly view: SessionView;
  /** The list grows: `view.seq` says when. */
  readonly facts: readonly Fact[];
  readonly state: WatchState;
  readonly watch: SessionWatch;
};

type Subscribe = SessionWatch["subscribe"];
type Held = { readonly watch: SessionWatch; readonly subscribe: Subscribe; users: number };

/** One watch for each session that is shown somewhere: all parts of the page see the same. */
const watches = new Map<string, Held>();
/** Whoever shows it next, such as the page after this one, need not read it again. */
const lingerMs = 2000;

/** So many facts at once are history: there is more to come, and nobody reads it on its way. */
const manyFacts = 150;
const historyMs = 120;

/** Tells of changes as the watch does; while a long session is read, only now and then. */
function calmly(watch: SessionWatch): Subscribe {
  return (listener) => {
    let told = watch.facts().length;
    let timer: ReturnType<typeof setTimeout> | undefined;
    function tell(): void {
      clearTimeout(timer);
      timer = undefined;
      told = watch.facts().length;
      listener();
    }
    const leave = watch.subscribe(() => {
      // Bit by bit, so that there is little left to do when it is drawn.
      watch.view();
      factIndex(watch.facts());
      if (watch.facts().length - told < manyFacts) tell();
      else timer ??= setTimeout(tell, historyMs);
    });
    return () => {
      clearTimeout(timer);
      leave();
    };
  };
}

function newlyHeld(id: string): Held {
  const watch = client.watch(id);
  return { watch, subscribe: calmly(watch), users: 0 };
}

function hold(id: string): { readonly held: Held; letGo(): void } {
  const held = watches.get(id) ?? newlyHeld(id);
  watches.set(id, held);
  held.users++;
  return {
    held,
    letGo() {
      held.users--;
      setTimeout(() => {
        if (held.users > 0 || watches.get(id) !== held) return;
        watches.delete(id);
        held.watch.close();
      }, lingerMs);
    },
  };
}

/** Reads a session anew that will not come back by itself. */
export function reopen(id: string): void {
  watches.get(id)?.watch.close();
  watches.delete(id);
}

/** Those that were deleted here: an address, or the way back, may still lead to them. */
export const useDeletedSessions: UseBoundStore<StoreApi<{ readonly ids: readonly string[] }>> = create<{
  readonly ids: readonly string[];
}>()(() => ({ ids: [] }));

/** Deletes a session, and forgets what was read of it. */
export async function deleteSession(id: string): Promise<void> {
  await client.sessions.remove(id);
  useDeletedSessions.setState(({ ids }) => ({ ids: [...ids, id] }));
  reopen(id);
}

/** Follows a session as long as the component is there. */
export function useOpenSession(id: string): OpenSession | undefined {
  const [{ watch, subscribe } = nothingHeld, setHeld] = useState<Held>();
  useEffect(() => {
    const { held, letGo } = hold(id);
    setHeld(held);
    return letGo;
  }, [id]);
  const view = useSyncExternalStore(subscribe, () => watch?.view());
  const state = useSyncExternalStore(subscribe, () => watch?.state());
  if (!watch || !view || !state) return undefined;
  return { id, view, state, watch, facts: watch.facts() };
}

const nothingHeld = { watch: undefined, subscribe: () => () => undefined };

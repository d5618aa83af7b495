import type { Fact } from "capstan";
import type { SessionView, SessionWatch, WatchState } from "capstan/client";
import { useEffect, useState, useSyncExternalStore } from "react";
import { client } from "./client.ts";

/** The session that is shown: its view, the facts behind it, and how we stand with the server. */
export type OpenSession = {
  readonly id: string;
  readonly view: SessionView;
  /** The list grows: `view.seq` says when. */
  readonly facts: readonly Fact[];
  readonly state: WatchState;
  readonly watch: SessionWatch;
};

type Held = { readonly watch: SessionWatch; users: number };

/** One watch for each session that is shown somewhere: all parts of the page see the same. */
const watches = new Map<string, Held>();
/** Whoever shows it next, such as the page after this one, need not read it again. */
const lingerMs = 2000;

function hold(id: string): { readonly watch: SessionWatch; letGo(): void } {
  const held: Held = watches.get(id) ?? { watch: client.watch(id), users: 0 };
  watches.set(id, held);
  held.users++;
  return {
    watch: held.watch,
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

/** Follows a session as long as the component is there. */
export function useOpenSession(id: string): OpenSession | undefined {
  const [watch, setWatch] = useState<SessionWatch>();
  useEffect(() => {
    const held = hold(id);
    setWatch(held.watch);
    return held.letGo;
  }, [id]);
  const view = useSyncExternalStore(watch?.subscribe ?? never, () => watch?.view());
  const state = useSyncExternalStore(watch?.subscribe ?? never, () => watch?.state());
  if (!watch || !view || !state) return undefined;
  return { id, view, state, watch, facts: watch.facts() };
}

const never = () => () => undefined;

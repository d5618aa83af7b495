import type { Found, SessionInfo, Store } from "../store.ts";
import { importSession } from "./import-session.ts";
import { type Session, session } from "./session.ts";
import { titleOf } from "./title.ts";

/** A session in a list. */
export type ListedSession = Omit<SessionInfo, "title"> & { readonly title: string };

/** The places of one session where words were found, the best first. */
export type FoundSession = {
  readonly id: string;
  readonly title: string;
  readonly places: readonly Omit<Found, "sessionId">[];
};

/** All sessions of a store. */
export interface Sessions {
  /** The newest first; a hundred when `most` is left out. */
  list(most?: number): Promise<readonly ListedSession[]>;
  /** The sessions in which all these words were said at one place. */
  search(words: string, most?: number): Promise<readonly FoundSession[]>;
  /** Writes an exported session (`json`) to the store. Starts nothing. */
  import(text: string): Promise<Session>;
}

/** A handle on all sessions of a store. */
export function sessions(store: Store): Sessions {
  const titled = async (id: string, given: string | undefined) =>
    titleOf(given ? [] : await store.read(id), given);
  return {
    async list(most = 100) {
      const infos = (await store.list()).slice(0, most);
      return Promise.all(infos.map(async (info) => ({ ...info, title: await titled(info.id, info.title) })));
    },
    async search(words, most) {
      const given = new Map((await store.list()).map(({ id, title }) => [id, title]));
      const found = Map.groupBy(await store.search(words, most), ({ sessionId }) => sessionId);
      return Promise.all(
        [...found].map(async ([id, places]) => ({
          id,
          title: await titled(id, given.get(id)),
          places: places.map(({ seq, excerpt }) => ({ seq, excerpt })),
        })),
      );
    },
    import: async (text) => session(store, await importSession(store, text)),
  };
}

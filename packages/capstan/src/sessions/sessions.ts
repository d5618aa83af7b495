import type { ListOptions, SearchHit, SessionInfo, Store } from "../store.ts";
import { importSession } from "./import-session.ts";
import { type Session, session } from "./session.ts";
import { getTitle } from "./title.ts";

/** A session in a list. */
export type ListedSession = Omit<SessionInfo, "title"> & { readonly title: string };

/** The places of one session where words were found, the best first. */
export type FoundSession = {
  readonly id: string;
  readonly title: string;
  readonly places: readonly Omit<SearchHit, "sessionId">[];
};

/** All sessions of a store. */
export interface Sessions {
  /** The newest first; a hundred when `most` is left out. */
  list(options?: ListOptions): Promise<readonly ListedSession[]>;
  /** The sessions in which all these words were said at one place; `most` counts the places. */
  search(words: string, options?: ListOptions): Promise<readonly FoundSession[]>;
  /** Writes an exported session (`json`) to the store, under the id if one is given. Starts nothing. */
  import(text: string, id?: string): Promise<Session>;
}

/** A handle on all sessions of a store. */
export function sessions(store: Store): Sessions {
  const resolveTitle = async (id: string, storedTitle: string | undefined) =>
    // A session begins with what was asked: that is all that a title needs.
    getTitle(storedTitle ? [] : await store.read(id, 0, 1), storedTitle);
  return {
    async list(options) {
      const infos = await store.list({ limit: 100, ...options });
      return Promise.all(
        infos.map(async (info) => ({ ...info, title: await resolveTitle(info.id, info.title) })),
      );
    },
    async search(words, options) {
      const found = Map.groupBy(await store.search(words, options), ({ sessionId }) => sessionId);
      return Promise.all(
        [...found].map(async ([id, places]) => ({
          id,
          title: await resolveTitle(id, (await store.getSession(id))?.title),
          places: places.map(({ seq, excerpt }) => ({ seq, excerpt })),
        })),
      );
    },
    import: async (text, id) => session(store, await importSession(store, text, id)),
  };
}

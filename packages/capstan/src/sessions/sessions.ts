import { isEvalSession } from "../kernel/ids.ts";
import type { ListOptions, SearchHit, SearchOptions, SessionInfo, Store } from "../runtime/store.ts";
import { type ImportOptions, importSession } from "./import-session.ts";
import { type Session, session } from "./session.ts";
import { getTitle } from "./title.ts";

export type ListedSession = Omit<SessionInfo, "title"> & { readonly title: string };

/** A session with search hits, best hit first. */
export type FoundSession = {
  readonly id: string;
  readonly title: string;
  readonly places: readonly Omit<SearchHit, "sessionId">[];
};

/** All sessions of a store. */
export interface Sessions {
  /** Lists sessions, newest first, without the sessions of evals. Default limit: 100. */
  list(options?: ListOptions): Promise<readonly ListedSession[]>;
  /** Finds sessions with words that start with all of these in one place. `limit` counts the places. */
  search(words: string, options?: SearchOptions): Promise<readonly FoundSession[]>;
  /** Imports a session exported as `json`. Starts nothing, and nothing in the file grants a right. */
  import(text: string, options?: ImportOptions): Promise<Session>;
}

/** Returns a handle on all sessions of a store. */
export function sessions(store: Store): Sessions {
  const resolveTitle = async (id: string, storedTitle: string | undefined) =>
    // The first fact is enough: it contains the first message.
    getTitle(storedTitle ? [] : await store.read(id, 0, 1), storedTitle);
  return {
    async list(options) {
      const infos = await listConversations(store, options);
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
    import: async (text, options) => session(store, await importSession(store, text, options)),
  };
}

/** Sessions read at once after a page that had sessions of evals. */
const nextPageSize = 500;

/** An experiment makes hundreds of sessions, which would hide the conversations of the user. */
async function listConversations(store: Store, options: ListOptions = {}): Promise<readonly SessionInfo[]> {
  const { limit = 100 } = options;
  const conversations: SessionInfo[] = [];
  let next = { ...options, limit };
  for (;;) {
    const page = await store.list(next);
    conversations.push(...page.filter(({ id }) => !isEvalSession(id)));
    const last = page.at(-1);
    if (!last || page.length < next.limit || conversations.length >= limit)
      return conversations.slice(0, limit);
    next = { ...options, limit: Math.max(limit, nextPageSize), after: last };
  }
}

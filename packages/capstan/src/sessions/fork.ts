import { AgentError } from "../base/errors.ts";
import type { StoredRequest } from "../features/exact-requests/stored-request.ts";
import type { Fact } from "../kernel/event.ts";
import { createId } from "../kernel/ids.ts";
import { loadSessionInfo, readFacts } from "../runtime/load-facts.ts";
import type { SessionInfo, Store } from "../runtime/store.ts";
import { buildRunIds, writeSessionCopy } from "./copy-session.ts";
import { addForkSuffix, getTitle } from "./title.ts";

export type ForkOptions = {
  /** Id of the new session. Default: a generated id. */
  readonly id?: string;
  /** Title of the new session. Default: the original title with a suffix. */
  readonly title?: string;
};

/** Creates a session with the facts up to and including position `at`. Returns its id. */
export async function fork(
  store: Store,
  sessionId: string,
  { at, id = createId("ses_"), title }: ForkOptions & { readonly at: number },
): Promise<string> {
  const info = await loadSessionInfo(store, sessionId);
  assertPosition(info, at);
  await writeFork(store, {
    sessionId,
    id,
    readPages: () => readFirstFacts(store, sessionId, at),
    title: title ?? (await createForkTitle(store, info)),
  });
  return id;
}

async function* readFirstFacts(
  store: Store,
  sessionId: string,
  count: number,
): AsyncGenerator<readonly Fact[], void, undefined> {
  for await (const page of readFacts(store, sessionId)) {
    yield page.filter(({ seq }) => seq <= count);
    if ((page.at(-1)?.seq ?? 0) >= count) return;
  }
}

/** Writes facts of a session, with the blobs they refer to, as a new session. */
export async function writeFork(
  store: Store,
  options: {
    readonly sessionId: string;
    readonly id: string;
    readPages(): AsyncIterable<readonly Fact[]>;
    readonly title: string;
  },
): Promise<void> {
  const { sessionId, id, title, readPages } = options;
  await writeSessionCopy(store, {
    id,
    title,
    readPages,
    assignRunIds: (runs) => buildRunIds(id, runs),
    loadBlob: (handle) => store.getBlob(sessionId, handle),
    readRequests: () => readRequestPages(store, sessionId),
  });
}

const requestPageSize = 50;

async function* readRequestPages(
  store: Store,
  sessionId: string,
): AsyncGenerator<readonly StoredRequest[], void, undefined> {
  for (let from = 1; ; from += requestPageSize) {
    const page = (await store.readRequests?.(sessionId, { from, to: from + requestPageSize - 1 })) ?? [];
    if (page.length === 0) return;
    yield page;
  }
}

/** Returns the default title for a fork of a session. */
export async function createForkTitle(store: Store, { id, title }: SessionInfo): Promise<string> {
  return addForkSuffix(getTitle(await store.read(id, 0, 1), title));
}

/** Throws `invalid_input` for a position without a fact. */
export function assertPosition({ id, facts }: Pick<SessionInfo, "id" | "facts">, at: number): void {
  if (Number.isInteger(at) && at >= 1 && at <= facts) return;
  const message =
    facts > 0
      ? `Session "${id}" has no fact at ${at}. Valid positions are 1 to ${facts}.`
      : `The session has no fact at ${at}: it is empty.`;
  throw new AgentError("invalid_input", message);
}

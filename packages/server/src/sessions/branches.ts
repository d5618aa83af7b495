import type { Json, Store } from "capstan";
import { getScope, updateRecord } from "capstan/sessions";

/** A related session and the number of facts in common. */
export type Branch = { readonly sessionId: string; readonly at: number };

/** The session that a session was forked from, and its forks. */
export type Branches = {
  readonly origin?: Branch;
  readonly forks: readonly (Branch & { readonly title: string })[];
};

const originKind = "origin";
const forkKind = "forks";
const maxForks = 500;

/** Records that a session was forked from the first `at` facts of another. */
export async function storeFork(store: Store, origin: Branch, sessionId: string): Promise<void> {
  const { sessionId: from, at } = origin;
  await updateRecord(store, { kind: originKind, id: sessionId }, () => ({ sessionId: from, at }));
  await updateRecord(store, { kind: forkKind, id: from }, (body) =>
    [...parseBranches(body).filter((known) => known.sessionId !== sessionId), { sessionId, at }].slice(
      -maxForks,
    ),
  );
}

/** Returns the session that a session was forked from. It may have been deleted since. */
export async function loadOrigin(store: Store, sessionId: string): Promise<Branch | undefined> {
  return parseBranches((await store.getRecord(originKind, sessionId))?.body)[0];
}

/** Returns the sessions that these sessions were forked from, by session. */
export async function loadOrigins(
  store: Store,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, Branch>> {
  const records = await store.listRecords(originKind, { ids: sessionIds });
  return new Map(
    records.flatMap(({ id, body }) => parseBranches(body).map((origin) => [id, origin] as const)),
  );
}

/** Returns related sessions that still exist and belong to the same user. */
export async function loadBranches(store: Store, sessionId: string): Promise<Branches> {
  const origin = await loadOrigin(store, sessionId);
  const made = parseBranches((await store.getRecord(forkKind, sessionId))?.body);
  const isSameUser = (branch: Branch) => getScope(branch.sessionId) === getScope(sessionId);
  const known = await Promise.all(
    made
      .filter(isSameUser)
      .map(async (branch) => ({ ...branch, info: await store.getSession(branch.sessionId) })),
  );
  const isThere = origin && isSameUser(origin) && (await store.getSession(origin.sessionId)) !== undefined;
  return {
    ...(isThere && { origin }),
    forks: known.flatMap(({ info, ...branch }) => (info ? [{ ...branch, title: info.title ?? "" }] : [])),
  };
}

/** Deletes the records of a removed session. Its forks stay, without an origin. */
export async function deleteBranches(store: Store, sessionId: string): Promise<void> {
  const origin = await loadOrigin(store, sessionId);
  if (origin)
    await updateRecord(store, { kind: forkKind, id: origin.sessionId }, (body) => {
      const left = parseBranches(body).filter((known) => known.sessionId !== sessionId);
      return left.length > 0 ? left : undefined;
    });
  for (const { sessionId: made } of parseBranches((await store.getRecord(forkKind, sessionId))?.body))
    await updateRecord(store, { kind: originKind, id: made }, () => undefined);
  for (const kind of [originKind, forkKind])
    await updateRecord(store, { kind, id: sessionId }, () => undefined);
}

function parseBranches(body: Json | undefined): readonly Branch[] {
  return body === undefined ? [] : ([body].flat() as unknown as readonly Branch[]);
}

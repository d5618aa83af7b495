import { AgentError, type Json, type Store } from "capstan";
import { getScope } from "capstan/sessions";

/** A session, and how many facts it has in common with the one it is told of. */
export type Branch = { readonly sessionId: string; readonly at: number };

/** Where a session comes from, and what was made of it. */
export type Branches = {
  readonly origin?: Branch;
  readonly forks: readonly (Branch & { readonly title: string })[];
};

const origins = "origin";
const forks = "forks";
const mostForks = 500;
const mostAttempts = 20;

/** Remembers that a session was made of the first `at` facts of another. */
export async function rememberFork(store: Store, origin: Branch, sessionId: string): Promise<void> {
  const { sessionId: from, at } = origin;
  await change(store, { kind: origins, id: sessionId }, () => ({ sessionId: from, at }));
  await change(store, { kind: forks, id: from }, (body) =>
    [...branchesIn(body).filter((known) => known.sessionId !== sessionId), { sessionId, at }].slice(
      -mostForks,
    ),
  );
}

/** Those that still exist and are of the same user. */
export async function branchesOf(store: Store, sessionId: string): Promise<Branches> {
  const [origin] = branchesIn((await store.getRecord(origins, sessionId))?.body);
  const made = branchesIn((await store.getRecord(forks, sessionId))?.body);
  const theirs = (branch: Branch) => getScope(branch.sessionId) === getScope(sessionId);
  const known = await Promise.all(
    made
      .filter(theirs)
      .map(async (branch) => ({ ...branch, info: await store.getSession(branch.sessionId) })),
  );
  const isThere = origin && theirs(origin) && (await store.getSession(origin.sessionId)) !== undefined;
  return {
    ...(isThere && { origin }),
    forks: known.flatMap(({ info, ...branch }) => (info ? [{ ...branch, title: info.title ?? "" }] : [])),
  };
}

/** Of a session that is gone. What was made of it stays, and comes from nowhere. */
export async function forgetBranches(store: Store, sessionId: string): Promise<void> {
  const [origin] = branchesIn((await store.getRecord(origins, sessionId))?.body);
  if (origin)
    await change(store, { kind: forks, id: origin.sessionId }, (body) => {
      const left = branchesIn(body).filter((known) => known.sessionId !== sessionId);
      return left.length > 0 ? left : undefined;
    });
  for (const { sessionId: made } of branchesIn((await store.getRecord(forks, sessionId))?.body))
    await change(store, { kind: origins, id: made }, () => undefined);
  for (const kind of [origins, forks]) await change(store, { kind, id: sessionId }, () => undefined);
}

type Place = { readonly kind: string; readonly id: string };

/** Writes what comes of a record, or removes it; again when somebody else was faster. */
async function change(
  store: Store,
  { kind, id }: Place,
  changed: (body: Json | undefined) => Json | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const record = await store.getRecord(kind, id);
    const body = changed(record?.body);
    try {
      if (body !== undefined) await store.putRecord({ kind, id, body, replaces: true }, record?.version ?? 0);
      else if (record) await store.removeRecord(kind, id, record.version);
      return;
    } catch (thrown) {
      const isConflict = thrown instanceof AgentError && thrown.code === "position_conflict";
      if (!isConflict || attempt >= mostAttempts) throw thrown;
    }
  }
}

function branchesIn(body: Json | undefined): readonly Branch[] {
  return body === undefined ? [] : ([body].flat() as unknown as readonly Branch[]);
}

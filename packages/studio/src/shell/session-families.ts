import type { SessionListItem } from "capstan/client";

/** A session and its branches, which are the sessions that were forked from it or from one of them. */
export type SessionFamily = {
  readonly session: SessionListItem;
  readonly branches: readonly SessionListItem[];
};

/** Puts branches below their session. A family is where its newest member is in the list. */
export function buildFamilies(sessions: readonly SessionListItem[]): readonly SessionFamily[] {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const families = Map.groupBy(sessions, (session) => findRoot(session, byId));
  return [...families].map(([session, members]) => ({
    session,
    branches: members.filter((member) => member !== session),
  }));
}

/** Finds the first session of a family that is listed. */
function findRoot(session: SessionListItem, byId: ReadonlyMap<string, SessionListItem>): SessionListItem {
  const seen = new Set<SessionListItem>();
  let root = session;
  while (!seen.has(root)) {
    seen.add(root);
    root = (root.origin === undefined ? undefined : byId.get(root.origin)) ?? root;
  }
  return root;
}

import type { Fact, Store } from "capstan";
import { loadRunStart } from "capstan/sessions";

/** A page of a session, counted from its end. */
export type FactPage = {
  readonly facts: readonly Fact[];
  /** The first fact of the run in which the page starts. Without it, the page could not be shown on its own. */
  readonly start?: Fact;
  /** Pass it as `before` for the page before this one. Absent on the first page of the session. */
  readonly previous?: number;
};

type PageQuery = { readonly before?: number | undefined; readonly limit: number };

/** Reads the last facts of a session, or the last ones before a position. */
export async function readFactPage(
  store: Store,
  sessionId: string,
  { before = Number.POSITIVE_INFINITY, limit }: PageQuery,
): Promise<FactPage> {
  const { facts: count = 0 } = (await store.getSession(sessionId)) ?? {};
  const end = Math.min(count, before - 1);
  const from = Math.max(0, end - limit);
  const facts = end > from ? await store.read(sessionId, from, end - from) : [];
  const first = facts.find(({ parentRunId }) => parentRunId === undefined);
  const start = first && first.type !== "run_start" ? await loadRunStart(store, first.runId) : undefined;
  return { facts, ...(start && { start }), ...(from > 0 && { previous: from + 1 }) };
}

import type { Store } from "../../store.ts";
import type { Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";
import { fromStored, toStored } from "./stored-text.ts";

type Position = { readonly session: number; readonly facts: number; readonly told: number };

/** Hears of what other connections write, by asking now and then whether there were any, while somebody watches. */
export function sqliteWatch(
  connection: Connection,
  local: Watchers,
  pollMs: number,
): Pick<Store, "watch"> & { stop(): void } {
  const seen = new Map<string, Position | undefined>();
  let version = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function poll(): void {
    const fresh = dataVersion(connection);
    if (fresh === version) return;
    for (const sessionId of seen.keys()) lookAt(sessionId);
    version = fresh;
  }

  function lookAt(sessionId: string): void {
    const before = seen.get(sessionId);
    const after = positionOf(connection, sessionId);
    const told = toldSince(connection, before, after);
    seen.set(sessionId, after);
    if (before?.session !== after?.session || before?.facts !== after?.facts)
      local.tell(sessionId, { type: "facts" });
    for (const runId of told) local.tell(sessionId, { type: "message", runId });
  }

  function begin(sessionId: string): void {
    if (timer === undefined) {
      version = attempt(() => dataVersion(connection)) ?? 0;
      // A look that fails is made again: the version is still the old one.
      timer = setInterval(() => attempt(poll), pollMs).unref();
    }
    if (!seen.has(sessionId))
      seen.set(
        sessionId,
        attempt(() => positionOf(connection, sessionId)),
      );
  }

  function rest(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    stop() {
      isStopped = true;
      rest();
    },
    watch(sessionId, hear) {
      const end = local.watch(sessionId, hear);
      if (!isStopped) begin(sessionId);
      return () => {
        end();
        const watched = new Set(local.sessions());
        if (!watched.has(sessionId)) seen.delete(sessionId);
        if (watched.size === 0) rest();
      };
    },
  };
}

/** It changes when another connection has written to the file. */
function dataVersion(connection: Connection): number {
  return connection.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
}

function positionOf(connection: Connection, sessionId: string): Position | undefined {
  const sql = `SELECT number AS session, facts, ifnull((SELECT max(told.number) FROM runs
    JOIN told ON run = runs.number WHERE runs.session = sessions.number), 0) AS told
    FROM sessions WHERE id = ?`;
  return connection.get(sql, toStored(sessionId));
}

function toldSince(
  connection: Connection,
  before: Position | undefined,
  after: Position | undefined,
): readonly string[] {
  if (!after || before?.told === after.told) return [];
  const last = before?.session === after.session ? before.told : 0;
  const sql = `SELECT DISTINCT id FROM runs JOIN told ON run = runs.number
    WHERE session = ? AND told.number > ? AND message IS NOT NULL`;
  return connection.all<{ id: string }>(sql, after.session, last).map(({ id }) => fromStored(id));
}

/** News may be late, but who listens or waits for them must not fail for it. */
function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

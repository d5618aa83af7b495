import type { Store } from "../../runtime/store.ts";
import type { Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";

type Position = { readonly session: number; readonly facts: number; readonly lastMessage: number };

/** Creates `watch`: polls for writes of other connections while a session is watched. */
export function createWatch(
  connection: Connection,
  local: Watchers,
  pollMs: number,
): Pick<Store, "watch"> & { stop(): void } {
  const positions = new Map<string, Position | undefined>();
  let version = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function checkForChanges(): void {
    const currentVersion = readDataVersion(connection);
    if (currentVersion === version) return;
    for (const sessionId of positions.keys()) checkSession(sessionId);
    version = currentVersion;
  }

  function checkSession(sessionId: string): void {
    const before = positions.get(sessionId);
    const after = readPosition(connection, sessionId);
    const messagedRuns = loadMessagesSince(connection, before, after);
    positions.set(sessionId, after);
    if (before?.session !== after?.session || before?.facts !== after?.facts)
      local.notify(sessionId, { type: "facts" });
    for (const runId of messagedRuns) local.notify(sessionId, { type: "message", runId });
  }

  function startPolling(sessionId: string): void {
    if (timer === undefined) {
      version = ignoreErrors(() => readDataVersion(connection)) ?? 0;
      // A failed poll is repeated, because the version has not been updated.
      timer = setInterval(() => ignoreErrors(checkForChanges), pollMs).unref();
    }
    if (!positions.has(sessionId))
      positions.set(
        sessionId,
        ignoreErrors(() => readPosition(connection, sessionId)),
      );
  }

  function stopPolling(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    stop() {
      isStopped = true;
      stopPolling();
    },
    watch(sessionId, listener) {
      const stopLocal = local.watch(sessionId, listener);
      if (!isStopped) startPolling(sessionId);
      return () => {
        stopLocal();
        if (!local.isWatched(sessionId)) positions.delete(sessionId);
        if (positions.size === 0) stopPolling();
      };
    },
  };
}

/** Changes when another connection writes to the file. */
function readDataVersion(connection: Connection): number {
  return connection.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
}

function readPosition(connection: Connection, sessionId: string): Position | undefined {
  const sql = `SELECT number AS session, facts, ifnull((SELECT max(told.number) FROM runs
    JOIN told ON run = runs.number WHERE runs.session = sessions.number), 0) AS lastMessage
    FROM sessions WHERE id = ?`;
  return connection.get(sql, encodeText(sessionId));
}

function loadMessagesSince(
  connection: Connection,
  before: Position | undefined,
  after: Position | undefined,
): readonly string[] {
  if (!after || before?.lastMessage === after.lastMessage) return [];
  const lastMessage = before?.session === after.session ? before.lastMessage : 0;
  const sql = `SELECT DISTINCT id FROM runs JOIN told ON run = runs.number
    WHERE session = ? AND told.number > ? AND message IS NOT NULL`;
  return connection.all<{ id: string }>(sql, after.session, lastMessage).map(({ id }) => fromStoredText(id));
}

/** A failed poll delays notices, but must not fail the watcher. */
function ignoreErrors<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

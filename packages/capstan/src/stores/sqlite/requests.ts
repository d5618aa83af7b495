import type { StoredRequest } from "../../features/exact-requests/stored-request.ts";
import type { Store } from "../../runtime/store.ts";
import type { Connection, SqlValue } from "./connection.ts";
import { encodeText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Reads the requests to models, which are written with the facts. */
export function createRequests(
  connection: Connection,
  { read }: WorkQueue,
): Required<Pick<Store, "readRequests">> {
  return {
    readRequests: (sessionId, { from = 1, to = Number.MAX_SAFE_INTEGER, turn, last = -1 } = {}) =>
      read(() => {
        const values: SqlValue[] = [encodeText(sessionId), from, to, last];
        if (turn) values.push(encodeText(turn.runId), turn.turn);
        const sql = `SELECT request FROM requests
          WHERE session = (SELECT number FROM sessions WHERE id = ?1) AND number BETWEEN ?2 AND ?3
          ${turn ? "AND run = ?5 AND turn = ?6" : ""} ORDER BY number DESC LIMIT ?4`;
        const rows = connection.all<{ request: string }>(sql, ...values);
        return rows.map(({ request }) => JSON.parse(request) as StoredRequest).reverse();
      }),
  };
}

/** Inserts requests; one whose number the session has is kept as it is. */
export function insertRequests(
  connection: Connection,
  session: number,
  requests: readonly StoredRequest[],
): void {
  const sql =
    "INSERT INTO requests (session, number, run, turn, request) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
  for (const request of requests) {
    const { number, runId, turn } = request;
    connection.run(sql, session, number, encodeText(runId), turn, JSON.stringify(request));
  }
}

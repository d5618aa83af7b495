// A session with many facts is neither written nor deleted in one transaction, which would block the process. While it is
// written or deleted in parts, it is hidden: its row has an id that no session has, no facts and no date. A hidden
// session whose `until` has passed is deleted by the next process that opens the file.
import { AgentError } from "../../base/errors.ts";
import type { Connection } from "./connection.ts";
import { ensureSession, findSessionRow } from "./fact-log.ts";
import { isSession } from "./migrations.ts";
import { encodeText } from "./stored-text.ts";

/** Creates an id that no session has. */
export function createHiddenId(): string {
  return `\u0000${crypto.randomUUID()}`;
}

/** Creates a hidden session and returns its number. */
export function createHiddenSession(connection: Connection, hiddenId: string, until: number): number {
  const session = ensureSession(connection, hiddenId);
  connection.run("INSERT INTO hidden_sessions (session, until) VALUES (?, ?)", session, until);
  return session;
}

/** Extends the time in which a hidden session is written. */
export function keepHidden(connection: Connection, session: number, until: number): void {
  connection.run("UPDATE hidden_sessions SET until = ? WHERE session = ?", until, session);
}

/** Returns the number of a hidden session that no process is writing or deleting anymore. */
export function findExpired(connection: Connection, now: number): number | undefined {
  const sql = "SELECT session FROM hidden_sessions WHERE until <= ? ORDER BY session LIMIT 1";
  return connection.get<{ session: number }>(sql, now)?.session;
}

/** Hides a session and deletes its runs, so that no query finds it anymore. Returns its number. */
export function hideSession(connection: Connection, sessionId: string): number | undefined {
  const id = encodeText(sessionId);
  connection.run("DELETE FROM leases WHERE session = ?", id);
  const sql = `UPDATE sessions SET id = ?, title = '', facts = 0, created_at = 0, updated_at = 0
    WHERE id = ? RETURNING number`;
  const row = connection.get<{ number: number }>(sql, encodeText(createHiddenId()), id);
  if (!row) return undefined;
  connection.run("DELETE FROM runs WHERE session = ?", row.number);
  connection.run("DELETE FROM snapshots WHERE session = ?", row.number);
  connection.run("REPLACE INTO hidden_sessions (session, until) VALUES (?, 0)", row.number);
  return row.number;
}

/** The visible fields of a session that was hidden. */
export type ShownSession = {
  readonly id: string;
  readonly title: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Makes a hidden session visible. Throws `position_conflict` if a session with its id exists. */
export function showSession(connection: Connection, session: number, shown: ShownSession): void {
  const { title, facts, createdAt, updatedAt } = shown;
  const id = encodeText(shown.id);
  if (connection.get(`SELECT 1 FROM sessions WHERE id = ? AND ${isSession}`, id)) {
    const message = `Session "${shown.id}" already exists. Choose another id.`;
    throw new AgentError("position_conflict", message);
  }
  if (!connection.get("SELECT 1 FROM hidden_sessions WHERE session = ? AND until > 0", session)) {
    const message = `Session "${shown.id}" was not written in time, and its data was deleted. Try again.`;
    throw new AgentError("store_busy", message, { retryable: true });
  }
  if (findSessionRow(connection, shown.id)) hideBlobs(connection, id);
  const sql =
    "UPDATE sessions SET id = ?, title = ?, facts = ?, created_at = ?, updated_at = ? WHERE number = ?";
  connection.run(sql, id, encodeText(title), facts, createdAt, updatedAt, session);
  connection.run("DELETE FROM hidden_sessions WHERE session = ?", session);
}

/** Hides a row that only holds blobs. Unlike `hideSession`, it keeps the lease. */
function hideBlobs(connection: Connection, id: string): void {
  const sql = "INSERT INTO hidden_sessions (session, until) SELECT number, 0 FROM sessions WHERE id = ?";
  connection.run(sql, id);
  connection.run("UPDATE sessions SET id = ? WHERE id = ?", encodeText(createHiddenId()), id);
}

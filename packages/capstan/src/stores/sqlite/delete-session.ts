import type { Connection } from "./connection.ts";
import { findExpired, hideSession } from "./hidden-sessions.ts";
import { lowerCounters } from "./migrations.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Limits of one transaction, so that each blocks the process for some milliseconds. */
const maxRows = 250;
/** The same for facts whose words are erased in place, which takes about a millisecond each. */
const maxErasedRows = 20;
const maxBytes = 256 * 1024;
const maxPages = 100;
/** A merge of the index stops after some pages, but not while it skips deleted words, so these must stay few. */
const partsPerRewrite = 25;
/** For at least this share of all facts, rewriting the index costs less than erasing each fact's words in place. */
const minRewrittenShare = 1 / 50;

export interface SessionDeletion {
  /** Hides a session, then deletes its data. */
  remove(sessionId: string, onHidden: () => void): Promise<void>;
  /** Deletes the data of a hidden session. */
  deleteHidden(session: number): Promise<void>;
  /** Finishes the work of processes that stopped. */
  deleteExpired(now: () => number): Promise<void>;
}

/** Deletes sessions in parts. Deleted data is overwritten, and its space reclaimed. */
export function createSessionDeletion(connection: Connection, { read, write }: WorkQueue): SessionDeletion {
  async function deleteHidden(session: number): Promise<void> {
    const isRewriting = await write(() => chooseRewriting(connection, session));
    const rowLimit = isRewriting ? maxRows : maxErasedRows;
    for (let parts = 1; await write(() => deleteFacts(connection, session, rowLimit)); parts++)
      if (isRewriting && parts % partsPerRewrite === 0) await rewriteIndex();
    while (await write(() => deleteBlob(connection, session)));
    while (await write(() => deleteRequests(connection, session)));
    if (isRewriting) await rewriteIndex();
    if (isRewriting) await write(() => setErasing(connection, true));
    await write(() => connection.run("DELETE FROM sessions WHERE number = ?", session));
    while (await write(() => releasePages(connection)));
    // The deleted pages are still in the write-ahead log, so truncate it unless a reader still needs it.
    await read(() => connection.all("PRAGMA wal_checkpoint(TRUNCATE)")).catch(() => undefined);
  }

  /** Merges all parts of the index into one, which drops deleted words. */
  async function rewriteIndex(): Promise<void> {
    const merge = (pages: number) => write(() => mergeIndex(connection, pages));
    await merge(-maxPages);
    while (await merge(maxPages));
  }

  return {
    deleteHidden,
    async remove(sessionId, onHidden) {
      const session = await write(() => hideSession(connection, sessionId));
      if (session === undefined) return;
      onHidden();
      await deleteHidden(session);
    },
    async deleteExpired(now) {
      for (;;) {
        const session = await read(() => findExpired(connection, now()));
        if (session === undefined) return;
        await deleteHidden(session);
      }
    },
  };
}

/** Returns whether to rewrite the index after the deletion, instead of erasing each fact's words. */
function chooseRewriting(connection: Connection, session: number): boolean {
  const sql = `SELECT (SELECT count(*) FROM facts WHERE session = ?) AS own,
    (SELECT ifnull(max(number), 0) FROM facts) AS total,
    (SELECT v FROM search_config WHERE k = 'secure-delete') AS isErasing`;
  const counts = connection.get<{ own: number; total: number; isErasing: number }>(sql, session);
  if (!counts?.isErasing) return true; // another deletion has not finished
  if (counts.own < counts.total * minRewrittenShare) return false;
  setErasing(connection, false);
  return true;
}

function setErasing(connection: Connection, isErasing: boolean): void {
  connection.exec(`INSERT INTO search (search, rank) VALUES ('secure-delete', ${isErasing ? 1 : 0})`);
}

/** Deletes the next facts, in ascending order, which the index writes in one batch. Returns false if none remained. */
function deleteFacts(connection: Connection, session: number, rowLimit: number): boolean {
  const sql = "SELECT number, octet_length(fact) AS bytes FROM facts WHERE session = ? ORDER BY seq LIMIT ?";
  let bytes = 0;
  for (const row of connection.all<{ number: number; bytes: number }>(sql, session, rowLimit)) {
    connection.run("DELETE FROM search WHERE rowid = ?", row.number);
    connection.run("DELETE FROM facts WHERE number = ?", row.number);
    bytes += row.bytes;
    if (bytes >= maxBytes) break;
  }
  for (const sql of lowerCounters) connection.run(sql);
  return bytes > 0;
}

function deleteBlob(connection: Connection, session: number): boolean {
  const sql = "DELETE FROM blobs WHERE rowid = (SELECT rowid FROM blobs WHERE session = ? LIMIT 1)";
  return connection.run(sql, session) > 0;
}

function deleteRequests(connection: Connection, session: number): boolean {
  const sql =
    "DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE session = ? ORDER BY number LIMIT ?)";
  return connection.run(sql, session, maxErasedRows) > 0;
}

/** Merges some pages of the index; with a negative number, starts to merge all parts. Returns false when it is done. */
function mergeIndex(connection: Connection, pages: number): boolean {
  const countChanges = () =>
    connection.get<{ changes: number }>("SELECT total_changes() AS changes")?.changes ?? 0;
  const before = countChanges();
  connection.run("INSERT INTO search (search, rank) VALUES ('merge', ?)", pages);
  return countChanges() - before >= 2; // SQLite documents that a merge without work changes fewer rows
}

/** Returns free pages to the file system. Returns false when none is left. */
function releasePages(connection: Connection): boolean {
  const countFree = () =>
    connection.get<{ freelist_count: number }>("PRAGMA freelist_count")?.freelist_count ?? 0;
  const before = countFree();
  if (before === 0) return false;
  connection.exec(`PRAGMA incremental_vacuum(${maxPages})`);
  return countFree() < before;
}

import { AgentError } from "../../errors.ts";
import type { Fact, UnplacedFact } from "../../event.ts";
import { identifyFact } from "../../ids.ts";
import type { Lease, Store } from "../../store.ts";
import { searchableText, wordsOf } from "../search-text.ts";
import { startsRun, stateAfter } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { factVersion } from "./migrations.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { Turns } from "./work-queue.ts";

export type FactRow = { readonly seq: number; readonly version: number; readonly fact: string };
type SessionRow = { readonly number: number; readonly facts: number };

/** The facts of sessions, and with each the state of its run and the words that can be found. */
export function sqliteLog(
  connection: Connection,
  { read, write }: Turns,
  assertHeld: (lease: Lease) => void,
): Pick<Store, "append" | "read" | "findSession"> {
  function known(session: number | undefined, identity: string): Fact | undefined {
    if (session === undefined) return undefined;
    const sql = "SELECT seq, version, fact FROM facts WHERE session = ? AND identity = ?";
    const row = connection.get<FactRow>(sql, session, identity);
    return row && factOf(connection.file, row);
  }

  function place(session: number, facts: readonly UnplacedFact[], position: number): Fact[] {
    let seq = position;
    return facts.map((fact) => {
      const identity = toStored(identifyFact(fact));
      const before = known(session, identity);
      if (before) return before;
      seq += 1;
      const sql =
        "INSERT INTO facts (session, seq, identity, version, fact) VALUES (?, ?, ?, ?, ?) RETURNING number";
      const json = JSON.stringify(fact);
      const row = connection.get<SessionRow>(sql, session, seq, identity, factVersion, json);
      indexRun(connection, session, fact);
      const words = wordsOf(searchableText(fact)).join(" ");
      if (words && row) connection.run("INSERT INTO search (rowid, words) VALUES (?, ?)", row.number, words);
      return { ...fact, seq };
    });
  }

  return {
    append: (facts, { expected, lease, acknowledged: heard = [] }) =>
      write(() => {
        assertHeld(lease);
        const session = sessionRow(connection, lease.sessionId);
        const position = session?.facts ?? 0;
        if (
          position !== expected &&
          facts.some((fact) => !known(session?.number, toStored(identifyFact(fact))))
        )
          throw conflict(lease.sessionId, position, expected);
        if (facts.length === 0) return [];
        const number = session?.number ?? sessionNumber(connection, lease.sessionId);
        const placed = place(number, facts, position);
        count(connection, number, placed);
        hear(connection, facts[0]?.runId ?? "", heard);
        return placed;
      }),
    read: (sessionId, after = 0, most = -1) =>
      read(() => {
        const sql = `SELECT seq, version, fact FROM facts
          WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?`;
        return connection
          .all<FactRow>(sql, toStored(sessionId), after, most)
          .map((row) => factOf(connection.file, row));
      }),
    findSession: (runId) =>
      read(() => {
        const sql =
          "SELECT sessions.id FROM runs JOIN sessions ON sessions.number = session WHERE runs.id = ?";
        const row = connection.get<{ id: string }>(sql, toStored(runId));
        return row && fromStored(row.id);
      }),
  };
}

/** The fact that a row holds. */
export function factOf(file: string, { seq, version, fact }: FactRow): Fact {
  if (version <= factVersion) return { ...JSON.parse(fact), seq };
  throw new AgentError(
    "store_failed",
    `The store "${file}" holds a fact of version ${version}, and this program knows versions up to ${factVersion}: update the program.`,
    { retryable: false },
  );
}

function sessionRow(connection: Connection, sessionId: string): SessionRow | undefined {
  return connection.get("SELECT number, facts FROM sessions WHERE id = ?", toStored(sessionId));
}

/** The number of a session, which is made when it is not there. */
export function sessionNumber(connection: Connection, sessionId: string): number {
  connection.run("INSERT INTO sessions (id) VALUES (?) ON CONFLICT DO NOTHING", toStored(sessionId));
  return sessionRow(connection, sessionId)?.number ?? 0;
}

function count(connection: Connection, session: number, placed: readonly Fact[]): void {
  const last = placed.reduce((newest, fact) => (fact.seq > newest.seq ? fact : newest));
  const sql = `UPDATE sessions SET facts = ?1, updated_at = ?2,
    created_at = iif(facts = 0, ?3, created_at) WHERE number = ?4 AND facts < ?1`;
  connection.run(sql, last.seq, last.at, placed[0]?.at ?? 0, session);
}

function indexRun(connection: Connection, session: number, fact: UnplacedFact): void {
  const [id, state] = [toStored(fact.runId), stateAfter(fact)];
  const isKnown =
    connection.run("UPDATE runs SET state = ?, updated_at = ? WHERE id = ?", state, fact.at, id) > 0;
  if (isKnown || !startsRun(fact)) return;
  const sql = `INSERT INTO runs (id, session, agent, state, started_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?5)`;
  connection.run(sql, id, session, toStored(fact.agent), state, fact.at);
}

/** A message that was heard is kept without its content, so that its key counts once. */
function hear(connection: Connection, runId: string, keys: readonly string[]): void {
  const sql = `INSERT INTO told (run, key) SELECT number, ? FROM runs WHERE id = ?
    ON CONFLICT DO UPDATE SET message = NULL`;
  for (const key of keys) connection.run(sql, toStored(key), toStored(runId));
}

function conflict(sessionId: string, position: number, expected: number): AgentError {
  const message = `The session "${sessionId}" is at ${position}, not at ${expected}: read what is new first.`;
  return new AgentError("position_conflict", message);
}

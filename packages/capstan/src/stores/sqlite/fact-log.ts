import { AgentError } from "../../base/errors.ts";
import { type Fact, factVersion, type UnplacedFact } from "../../kernel/event.ts";
import { assertFactTypes } from "../../kernel/fact-types.ts";
import { identifyFact } from "../../kernel/ids.ts";
import type { Lease, RunInfo, Store } from "../../runtime/store.ts";
import { getRunState, isListedRunStart } from "../store-rules.ts";
import type { Connection } from "./connection.ts";
import { insertRequests } from "./requests.ts";
import { type FactRow, parseFact } from "./stored-fact.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type SessionRow = { readonly number: number; readonly facts: number };

const longRead = 100;

/** Creates the log: facts, and with each the state of its run. */
export function createFactLog(
  connection: Connection,
  { read, write }: WorkQueue,
  assertHeld: (lease: Lease) => void,
): Pick<Store, "append" | "read" | "findSession"> {
  function findFact(session: number | undefined, identity: string): Fact | undefined {
    if (session === undefined) return undefined;
    const sql = "SELECT seq, version, fact FROM facts WHERE session = ? AND identity = ?";
    const row = connection.get<FactRow>(sql, session, identity);
    return row && parseFact(row);
  }

  function appendFacts(session: number, facts: readonly UnplacedFact[], position: number): Fact[] {
    const added: InsertedFact[] = [];
    const appended = facts.map((fact) => {
      const before = findFact(session, encodeText(identifyFact(fact)));
      if (before) return before;
      const seq = position + added.length + 1;
      added.push(insertFact(connection, { session, seq }, fact));
      return { ...fact, seq };
    });
    updateRuns(connection, added);
    return appended;
  }

  return {
    append: (facts, { expected, lease, acknowledged = [], requests = [] }) =>
      write(() => {
        assertHeld(lease);
        assertFactTypes(facts);
        const session = findSessionRow(connection, lease.sessionId);
        const position = session?.facts ?? 0;
        if (
          position !== expected &&
          facts.some((fact) => !findFact(session?.number, encodeText(identifyFact(fact))))
        )
          throw createPositionConflict(lease.sessionId, position, expected);
        if (facts.length === 0) return [];
        const number = session?.number ?? ensureSession(connection, lease.sessionId);
        const appended = appendFacts(number, facts, position);
        updateSession(connection, number, appended);
        acknowledgeMessages(connection, facts[0]?.runId ?? "", acknowledged);
        insertRequests(connection, number, requests);
        return appended;
      }),
    async read(sessionId, after = 0, limit = -1) {
      const facts = await read(() => {
        const sql = `SELECT seq, version, fact FROM facts
          WHERE session = (SELECT number FROM sessions WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?`;
        return connection.all<FactRow>(sql, encodeText(sessionId), after, limit).map(parseFact);
      });
      // Reads are synchronous: let others work between the pages of a long log.
      if (facts.length >= longRead) await new Promise((resolve) => setImmediate(resolve));
      return facts;
    },
    findSession: (runId) =>
      read(() => {
        const sql =
          "SELECT sessions.id FROM runs JOIN sessions ON sessions.number = session WHERE runs.id = ?";
        const row = connection.get<{ id: string }>(sql, encodeText(runId));
        return row && fromStoredText(row.id);
      }),
  };
}

type FactPlace = { readonly session: number; readonly seq: number };

export type InsertedFact = FactPlace & { readonly fact: UnplacedFact };

/** Inserts a fact at a position. `updateRuns` must follow in the same transaction. */
export function insertFact(connection: Connection, place: FactPlace, fact: UnplacedFact): InsertedFact {
  const sql = "INSERT INTO facts (session, seq, identity, version, fact) VALUES (?, ?, ?, ?, ?)";
  const identity = encodeText(identifyFact(fact));
  connection.run(sql, place.session, place.seq, identity, factVersion, JSON.stringify(fact));
  return { ...place, fact };
}

/** Updates the runs of facts that were inserted one after the other. */
export function updateRuns(
  connection: Connection,
  added: readonly InsertedFact[],
  state?: RunInfo["state"],
): void {
  for (const facts of Map.groupBy(added, ({ fact }) => fact.runId).values())
    updateRun(connection, facts, state);
}

export function findSessionRow(connection: Connection, sessionId: string): SessionRow | undefined {
  return connection.get("SELECT number, facts FROM sessions WHERE id = ?", encodeText(sessionId));
}

/** Returns the number of a session; creates the session if needed. */
export function ensureSession(connection: Connection, sessionId: string): number {
  connection.run("INSERT INTO sessions (id) VALUES (?) ON CONFLICT DO NOTHING", encodeText(sessionId));
  return findSessionRow(connection, sessionId)?.number ?? 0;
}

function updateSession(connection: Connection, session: number, appended: readonly Fact[]): void {
  const last = appended.reduce((newest, fact) => (fact.seq > newest.seq ? fact : newest));
  const sql = `UPDATE sessions SET facts = ?1, updated_at = ?2,
    created_at = iif(facts = 0, ?3, created_at) WHERE number = ?4 AND facts < ?1`;
  connection.run(sql, last.seq, last.at, appended[0]?.at ?? 0, session);
}

/** Updates a run with its newest fact; inserts the run if it starts with these facts. */
function updateRun(
  connection: Connection,
  added: readonly InsertedFact[],
  givenState: RunInfo["state"] | undefined,
): void {
  const last = added.at(-1);
  if (!last) return;
  const id = encodeText(last.fact.runId);
  const state = givenState ?? getRunState(last.fact);
  // Mostly the state is the same: then its index is not written again.
  const touch = "UPDATE runs SET updated_at = ? WHERE id = ? AND state = ?";
  if (connection.run(touch, last.fact.at, id, state) > 0) return;
  const update = "UPDATE runs SET state = ?, updated_at = ? WHERE id = ?";
  if (connection.run(update, state, last.fact.at, id) > 0) return;
  const start = added.find(({ fact }) => isListedRunStart(fact));
  if (!start) return;
  const sql =
    "INSERT INTO runs (id, session, agent, state, started_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)";
  const { session, fact } = start;
  connection.run(sql, id, session, encodeText(fact.agent), state, fact.at, last.fact.at);
}

/** Keeps an acknowledged message without its content, so that its key counts once. */
function acknowledgeMessages(connection: Connection, runId: string, keys: readonly string[]): void {
  const sql = `INSERT INTO told (run, key) SELECT number, ? FROM runs WHERE id = ?
    ON CONFLICT DO UPDATE SET message = NULL`;
  for (const key of keys) connection.run(sql, encodeText(key), encodeText(runId));
}

function createPositionConflict(sessionId: string, position: number, expected: number): AgentError {
  const message = `Session "${sessionId}" is at position ${position}, not ${expected}. Read the new facts first.`;
  return new AgentError("position_conflict", message);
}

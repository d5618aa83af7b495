import { factVersion } from "../../kernel/event.ts";
import type { Connection } from "./connection.ts";
import { summarizeFacts } from "./run-summaries.ts";
import { indexFact } from "./search.ts";
import { type FactRow, type NumberedFact, parseFact } from "./stored-fact.ts";
import type { WorkQueue } from "./work-queue.ts";

/**
 * Two tables are derived from facts: the search index, and the summaries of runs. Writing them with every step would take
 * half as long as the step itself, so facts are added to them in parts: soon after they were appended, and before a table
 * is read. Each has a counter: the number of the last fact in it.
 */
export interface DerivedTables {
  /** Adds all facts that are missing. */
  complete(): Promise<void>;
  /** Adds them soon, in the background. If this fails, the next reader does it. */
  completeSoon(): void;
  stop(): void;
}

type FactCounter = "indexed" | "summarized";

/** Number of facts that are added in one transaction. */
const partSize = 100;
const delayMs = 250;

export function createDerivedTables(connection: Connection, { read, write }: WorkQueue): DerivedTables {
  let timer: NodeJS.Timeout | undefined;

  async function complete(): Promise<void> {
    while (await read(() => isBehind(connection))) await write(() => addNextPart(connection));
  }

  async function completeInBackground(): Promise<void> {
    await complete().catch(() => undefined);
    timer = undefined;
  }

  return {
    complete,
    completeSoon() {
      timer ??= setTimeout(completeInBackground, delayMs).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

function isBehind(connection: Connection): boolean {
  const sql = `SELECT 1 FROM counters WHERE name IN ('indexed', 'summarized')
    AND value < (SELECT ifnull(max(number), 0) FROM facts)`;
  return connection.get(sql) !== undefined;
}

/** Facts that a program of an earlier version wrote may be in none of the tables, or in one. */
function addNextPart(connection: Connection): void {
  const sql = "SELECT name, value FROM counters WHERE name IN ('indexed', 'summarized')";
  const counters = connection.all<{ name: FactCounter; value: number }>(sql);
  const rows = readFacts(connection, Math.min(...counters.map(({ value }) => value)));
  // Facts of a later version are not added.
  const facts = rows.filter(({ version }) => version <= factVersion).map(toNumberedFact);
  for (const { name, value } of counters) {
    const missing = facts.filter(({ number }) => number > value);
    if (name === "summarized") summarizeFacts(connection, missing);
    else for (const { number, fact } of missing) indexFact(connection, number, fact);
  }
  const last = rows.at(-1)?.number;
  if (last === undefined) return;
  const raise = "UPDATE counters SET value = ?1 WHERE name IN ('indexed', 'summarized') AND value < ?1";
  connection.run(raise, last);
}

type NumberedRow = FactRow & { readonly number: number; readonly session: number };

function readFacts(connection: Connection, after: number): NumberedRow[] {
  const sql =
    "SELECT number, session, seq, version, fact FROM facts WHERE number > ? ORDER BY number LIMIT ?";
  return connection.all<NumberedRow>(sql, after, partSize);
}

function toNumberedFact(row: NumberedRow): NumberedFact {
  return { number: row.number, session: row.session, fact: parseFact(row) };
}

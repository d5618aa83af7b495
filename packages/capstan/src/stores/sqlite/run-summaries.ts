import { factVersion, type UnplacedFact } from "../../event.ts";
import type { RunSummary } from "../../run-summary.ts";
import { getScope } from "../../store.ts";
import {
  applySummaryChange,
  buildSummary,
  countTokens,
  getSummaryChange,
  type SummaryChange,
  type SummaryRow,
} from "../summarize-run.ts";
import type { Connection } from "./connection.ts";
import { isCounterBehind } from "./fact-counters.ts";
import { type FactRow, parseFact } from "./stored-fact.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";
import type { WorkQueue } from "./work-queue.ts";

type FactPlace = { readonly session: number; readonly seq: number };

/** A row of `run_summaries`: the columns that change with facts, and the others. */
type StoredSummary = {
  readonly run: number;
  readonly first_seq: number;
  readonly agent: string;
  readonly agent_version: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly status: string | null;
  readonly stop_reason: string | null;
  readonly error_code: string | null;
  readonly turns: number;
  readonly tool_calls: number;
  readonly cost: number;
  readonly tools: string;
  readonly models: string;
  readonly tags: string;
  readonly usage: string;
  readonly title: string;
};

/** A row with the columns of its run and its session. */
export type ListedSummary = StoredSummary & {
  readonly id: string;
  readonly session_id: string;
  readonly state: RunSummary["state"];
  readonly updated_at: number;
  readonly scope: string;
  readonly feedback: string | null;
};

/** Number of facts that are added in one transaction. */
const partSize = 200;

/** Adds a fact to the summary of its run: of a nested run, the run it is part of. */
export function summarizeFact(connection: Connection, place: FactPlace, fact: UnplacedFact): void {
  const change = getSummaryChange(fact);
  if (change?.start) insertSummary(connection, place, { fact, start: change.start });
  else if (change) updateSummary(connection, place, { fact, change });
}

/** Adds the facts that are still to be summarized: of a file, or a program, of an earlier version. */
export async function completeSummaries(connection: Connection, { read, write }: WorkQueue): Promise<void> {
  while (await read(() => isCounterBehind(connection, "summarized")))
    await write(() => summarizeNextPart(connection));
}

function summarizeNextPart(connection: Connection): void {
  const sql = `SELECT number, session, seq, version, fact FROM facts
    WHERE number > (SELECT value FROM counters WHERE name = 'summarized') ORDER BY number LIMIT ?`;
  const rows = connection.all<FactRow & { number: number; session: number }>(sql, partSize);
  // Facts of a later version are not summarized.
  for (const row of rows) if (row.version <= factVersion) summarizeFact(connection, row, parseFact(row));
  const last = rows.at(-1)?.number;
  if (last !== undefined) connection.run("UPDATE counters SET value = ? WHERE name = 'summarized'", last);
}

function insertSummary(
  connection: Connection,
  { session, seq }: FactPlace,
  { fact, start }: { readonly fact: UnplacedFact; readonly start: NonNullable<SummaryChange["start"]> },
): void {
  const sql = `INSERT INTO run_summaries
    (run, session, first_seq, scope, agent, agent_version, started_at, tags, title)
    SELECT number, session, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM runs WHERE id = ?1 AND session = ?2
    ON CONFLICT DO NOTHING`;
  connection.run(
    sql,
    ...([encodeText(fact.runId), session, seq, encodeText(getScope(fact.sessionId))] as const),
    ...([encodeText(fact.agent), encodeOptional(start.agentVersion), fact.at] as const),
    ...([JSON.stringify(start.tags), start.title] as const),
  );
}

function updateSummary(
  connection: Connection,
  { session, seq }: FactPlace,
  { fact, change }: { readonly fact: UnplacedFact; readonly change: SummaryChange },
): void {
  const sql = `SELECT * FROM run_summaries WHERE session = ? AND first_seq <= ?
    ORDER BY first_seq DESC LIMIT 1`;
  const stored = connection.get<StoredSummary>(sql, session, seq);
  if (!stored) return;
  const row = applySummaryChange(parseSummary(stored), change, fact.at);
  const endedAt = row.endedAt ?? null;
  // The indexes of open and of ended runs are written only when a run ends, or is opened again.
  const end = endedAt === stored.ended_at ? [] : [endedAt];
  const update = `UPDATE run_summaries SET ${end.length > 0 ? "ended_at = ?, " : ""}status = ?, stop_reason = ?,
    error_code = ?, turns = ?, tool_calls = ?, tokens = ?, cost = ?, tools = ?, models = ?, usage = ? WHERE run = ?`;
  connection.run(
    update,
    ...end,
    ...[row.status, row.stopReason, row.errorCode].map(encodeOptional),
    ...([row.turns, row.toolCalls, countTokens(row.usage), row.cost] as const),
    ...([JSON.stringify(row.tools), JSON.stringify(row.models), JSON.stringify(row.usage)] as const),
    stored.run,
  );
}

function parseSummary(stored: StoredSummary): SummaryRow {
  return {
    agent: fromStoredText(stored.agent),
    agentVersion: parseOptional(stored.agent_version),
    firstSeq: stored.first_seq,
    startedAt: stored.started_at,
    endedAt: stored.ended_at ?? undefined,
    status: parseOptional(stored.status),
    stopReason: parseOptional(stored.stop_reason),
    errorCode: parseOptional(stored.error_code),
    turns: stored.turns,
    toolCalls: stored.tool_calls,
    tools: JSON.parse(stored.tools),
    models: JSON.parse(stored.models),
    usage: JSON.parse(stored.usage),
    cost: stored.cost,
    tags: JSON.parse(stored.tags),
    title: stored.title,
  };
}

function encodeOptional(text: string | undefined): string | null {
  return text === undefined ? null : encodeText(text);
}

function parseOptional<Text extends string>(stored: string | null): Text | undefined {
  return stored === null ? undefined : (fromStoredText(stored) as Text);
}

export function toRunSummary(row: ListedSummary): RunSummary {
  const info = {
    runId: fromStoredText(row.id),
    sessionId: fromStoredText(row.session_id),
    ...{ state: row.state, updatedAt: row.updated_at, user: fromStoredText(row.scope) },
  };
  return buildSummary(info, parseSummary(row), row.feedback === null ? undefined : JSON.parse(row.feedback));
}

import type { Fact } from "../../kernel/event.ts";
import { getScope } from "../../kernel/session-id.ts";
import type { RunSummary } from "../../runtime/run-catalog.ts";
import {
  applySummaryChange,
  buildSummary,
  countTokens,
  getSummaryChange,
  type SummaryChange,
  type SummaryRow,
} from "../summarize-run.ts";
import type { Connection } from "./connection.ts";
import type { NumberedFact } from "./stored-fact.ts";
import { encodeText, fromStoredText } from "./stored-text.ts";

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

/** A summary that is not written yet. */
type OpenSummary = { readonly stored: StoredSummary; readonly row: SummaryRow };

/** Adds facts to the summaries of their runs: of a nested run, the run it is part of. */
export function summarizeFacts(connection: Connection, facts: readonly NumberedFact[]): void {
  /** By session, whose runs follow one another. Each is written once. */
  const open = new Map<number, OpenSummary>();
  for (const { session, fact } of facts) {
    const change = getSummaryChange(fact);
    if (!change) continue;
    const current = open.get(session);
    if (change.start) {
      if (current) updateSummary(connection, current);
      open.delete(session);
      insertSummary(connection, session, { fact, start: change.start });
    } else {
      const { stored, row } = current ?? findSummary(connection, session, fact.seq) ?? {};
      if (stored && row) open.set(session, { stored, row: applySummaryChange(row, change, fact.at) });
    }
  }
  for (const summary of open.values()) updateSummary(connection, summary);
}

/** Finds the summary of the run that a fact belongs to. */
function findSummary(connection: Connection, session: number, seq: number): OpenSummary | undefined {
  const sql = `SELECT * FROM run_summaries WHERE session = ? AND first_seq <= ?
    ORDER BY first_seq DESC LIMIT 1`;
  const stored = connection.get<StoredSummary>(sql, session, seq);
  return stored && { stored, row: parseSummary(stored) };
}

function insertSummary(
  connection: Connection,
  session: number,
  { fact, start }: { readonly fact: Fact; readonly start: NonNullable<SummaryChange["start"]> },
): void {
  const sql = `INSERT INTO run_summaries
    (run, session, first_seq, scope, agent, agent_version, started_at, tags, title)
    SELECT number, session, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM runs WHERE id = ?1 AND session = ?2
    ON CONFLICT DO NOTHING`;
  connection.run(
    sql,
    ...([encodeText(fact.runId), session, fact.seq, encodeText(getScope(fact.sessionId))] as const),
    ...([encodeText(fact.agent), encodeOptional(start.agentVersion), fact.at] as const),
    ...([JSON.stringify(start.tags), start.title] as const),
  );
}

function updateSummary(connection: Connection, { stored, row }: OpenSummary): void {
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

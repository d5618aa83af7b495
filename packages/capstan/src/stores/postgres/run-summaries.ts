import { factVersion, type UnplacedFact } from "../../kernel/event.ts";
import { getScope } from "../../kernel/session-id.ts";
import { countTokens, foldSummaries, type SummaryChange, type SummaryRow } from "../summarize-run.ts";
import type { Database, Queries } from "./database.ts";
import type { PostgresRow } from "./pool.ts";
import { decodeFact, decodeText, encodeText } from "./stored-text.ts";

/**
 * Builds the table of summaries. `append_facts` maintains it. `unsummarized` has the sessions whose rows are still to be
 * computed: those of an earlier version, and those to which a process of an earlier version appends facts. An append locks
 * the row there, so that it waits for the process that is computing, and is seen by the one that will. No index has a
 * column that changes while a run is open, so that its updates write no index. See also `buildEndedRuns`.
 */
export function buildSummaryTable(schema: string): string {
  return `
    CREATE TABLE ${schema}.run_summaries (
      run_id text PRIMARY KEY REFERENCES ${schema}.runs ON DELETE CASCADE,
      place bigint NOT NULL,
      session_id text NOT NULL,
      first_seq integer NOT NULL,
      scope text NOT NULL,
      agent text NOT NULL,
      agent_version text,
      started_at double precision NOT NULL,
      ended_at double precision,
      status text,
      stop_reason text,
      error_code text,
      turns integer NOT NULL DEFAULT 0,
      tool_calls integer NOT NULL DEFAULT 0,
      tokens double precision NOT NULL DEFAULT 0,
      cost double precision NOT NULL DEFAULT 0,
      tools text[] NOT NULL DEFAULT '{}',
      models text[] NOT NULL DEFAULT '{}',
      tags text[] NOT NULL DEFAULT '{}',
      usage jsonb NOT NULL DEFAULT '{"inputTokens": 0, "outputTokens": 0}',
      title text NOT NULL,
      rating text,
      feedback text
    ) WITH (fillfactor = 80);
    CREATE INDEX run_summaries_by_session ON ${schema}.run_summaries (session_id, first_seq);
    CREATE INDEX run_summaries_open ON ${schema}.run_summaries (started_at, place) WHERE ended_at IS NULL;
    CREATE TABLE ${schema}.unsummarized (
      session_id text PRIMARY KEY REFERENCES ${schema}.sessions ON DELETE CASCADE
    );
    INSERT INTO ${schema}.unsummarized SELECT DISTINCT session_id FROM ${schema}.runs
      WHERE EXISTS (SELECT FROM ${schema}.sessions WHERE id = session_id);
    ${buildSummaryFunctions(schema)}`;
}

function buildSummaryFunctions(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.add_usage(before jsonb, added jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
      SELECT jsonb_object_agg(key, total) FROM (
        SELECT key, coalesce(to_jsonb(sum((value#>>'{}')::double precision) FILTER (WHERE jsonb_typeof(value) = 'number')),
          'true') AS total
        FROM (SELECT * FROM jsonb_each(before) UNION ALL SELECT * FROM jsonb_each(added)) AS both_usages
        WHERE value <> 'false' GROUP BY key) AS totals $$;
    CREATE FUNCTION ${schema}.add_name(names text[], name text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN name IS NULL OR name = ANY (names) THEN names ELSE names || name END $$;
    CREATE FUNCTION ${schema}.summarize_fact(
      session text, fact_seq integer, run text, fact_at double precision, change json)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF change->'start' IS NOT NULL THEN
        INSERT INTO ${schema}.run_summaries
          (run_id, place, session_id, first_seq, scope, agent, agent_version, started_at, tags, title)
          SELECT id, place, session_id, fact_seq, change#>>'{start,scope}', agent, change#>>'{start,agentVersion}', fact_at,
            ARRAY(SELECT json_array_elements_text(change#>'{start,tags}')), change#>>'{start,title}'
          FROM ${schema}.runs WHERE id = run AND session_id = session
          ON CONFLICT DO NOTHING;
        RETURN;
      END IF;
      UPDATE ${schema}.run_summaries SET
        turns = greatest(turns, (change->>'turn')::integer),
        tool_calls = tool_calls + (change->>'tool' IS NOT NULL)::integer,
        tools = ${schema}.add_name(tools, change->>'tool'),
        models = ${schema}.add_name(models, change->>'model'),
        stop_reason = coalesce(change->>'stopReason', stop_reason),
        usage = coalesce((change#>'{end,usage}')::jsonb,
          CASE WHEN change->'usage' IS NULL THEN usage ELSE ${schema}.add_usage(usage, (change->'usage')::jsonb) END),
        tokens = coalesce((change#>>'{end,tokens}')::double precision,
          tokens + coalesce((change->>'tokens')::double precision, 0)),
        cost = coalesce((change#>>'{end,cost}')::double precision,
          cost + coalesce((change#>>'{usage,cost}')::double precision, 0)),
        ended_at = CASE WHEN change->'end' IS NOT NULL THEN fact_at WHEN change->'reopens' IS NULL THEN ended_at END,
        status = CASE WHEN change->'end' IS NOT NULL THEN change#>>'{end,status}'
          WHEN change->'reopens' IS NULL THEN status END,
        error_code = CASE WHEN change->'end' IS NOT NULL THEN change#>>'{end,errorCode}'
          WHEN change->'reopens' IS NULL THEN error_code END
        WHERE run_id = (SELECT run_id FROM ${schema}.run_summaries WHERE session_id = session AND first_seq <= fact_seq
          ORDER BY first_seq DESC LIMIT 1);
    END $$;`;
}

/** Encodes the texts of a change, and adds what the database would have to compute. */
export function toStoredChange(change: SummaryChange | undefined, fact: UnplacedFact): object | undefined {
  if (!change) return undefined;
  const { start, end, tool, model, stopReason, usage } = change;
  return {
    ...change,
    ...(start && {
      start: {
        ...start,
        scope: encodeText(getScope(fact.sessionId)),
        tags: start.tags.map(encodeText),
        ...encodeFields({ agentVersion: start.agentVersion }),
      },
    }),
    ...(end && {
      end: { ...end, tokens: countTokens(end.usage), ...encodeFields({ errorCode: end.errorCode }) },
    }),
    ...(usage && { tokens: countTokens(usage) }),
    ...encodeFields({ tool, model, stopReason }),
  };
}

function encodeFields(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [[name, encodeText(text)]])),
  );
}

/** Sessions that are summarized in one transaction. */
const partSize = 50;

/** Computes the summaries that are still missing. */
export async function completeSummaries(database: Database, schema: string): Promise<void> {
  const text = `SELECT session_id FROM ${schema}.unsummarized LIMIT ${partSize}`;
  for (;;) {
    const rows = await database.query("list runs", { text, values: [] });
    if (rows.length === 0) return;
    await database.runTransaction("summarize runs", async (transaction) => {
      for (const { session_id } of rows) await summarizeSession(transaction, schema, session_id);
    });
  }
}

async function summarizeSession(transaction: Queries, schema: string, session: unknown): Promise<void> {
  const mark = `DELETE FROM ${schema}.unsummarized WHERE session_id = $1 RETURNING session_id`;
  const [marked] = await transaction.query("summarize runs", { text: mark, values: [session] });
  if (!marked) return; // another process was faster
  // Facts of a later version are not summarized.
  const text = `SELECT seq, version, body FROM ${schema}.facts
    WHERE session_id = $1 AND version <= ${factVersion} ORDER BY seq`;
  const rows = await transaction.query("summarize runs", { text, values: [session] });
  const summaries = [...foldSummaries(rows.map(decodeFact))].map(([runId, row]) => toStoredRow(runId, row));
  const scope = encodeText(getScope(decodeText(session)));
  const upsert = buildUpsert(schema);
  const values = [session, scope, JSON.stringify(summaries)];
  await transaction.query("summarize runs", { text: upsert, values });
}

const foldedColumns = [
  ...["first_seq", "agent_version", "started_at", "ended_at", "status", "stop_reason", "error_code"],
  ...["turns", "tool_calls", "tokens", "cost", "tools", "models", "tags", "usage", "title"],
] as const;

/** Replaces rows, but not their feedback. */
function buildUpsert(schema: string): string {
  const names = foldedColumns.join(", ");
  return `INSERT INTO ${schema}.run_summaries AS known (run_id, place, session_id, scope, agent, ${names})
    SELECT runs.id, runs.place, runs.session_id, $2, runs.agent, ${foldedColumns.map((name) => `given.${name}`).join(", ")}
    FROM json_to_recordset($3::json) AS given (run_id text, first_seq integer, agent_version text,
      started_at double precision, ended_at double precision, status text, stop_reason text, error_code text,
      turns integer, tool_calls integer, tokens double precision, cost double precision, tools text[], models text[],
      tags text[], usage jsonb, title text)
    JOIN ${schema}.runs ON runs.id = given.run_id AND runs.session_id = $1
    ON CONFLICT (run_id) DO UPDATE SET ${foldedColumns.map((name) => `${name} = excluded.${name}`).join(", ")}`;
}

function toStoredRow(runId: string, row: SummaryRow): object {
  const { agentVersion, status, stopReason, errorCode } = row;
  return {
    run_id: encodeText(runId),
    first_seq: row.firstSeq,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    ...encodeFields({ agent_version: agentVersion, status, stop_reason: stopReason, error_code: errorCode }),
    ...{ turns: row.turns, tool_calls: row.toolCalls, tokens: countTokens(row.usage), cost: row.cost },
    tools: row.tools.map(encodeText),
    models: row.models.map(encodeText),
    tags: row.tags.map(encodeText),
    usage: row.usage,
    title: row.title,
  };
}

/** Decodes the columns that are folded from facts. */
export function decodeSummary(row: PostgresRow): SummaryRow {
  const decodeList = (stored: unknown) => (stored as readonly string[]).map(decodeText);
  const decodeOptional = <Text extends string>(stored: unknown) =>
    stored === null ? undefined : (decodeText(stored) as Text);
  return {
    agent: decodeText(row.agent),
    agentVersion: decodeOptional(row.agent_version),
    firstSeq: Number(row.first_seq),
    startedAt: Number(row.started_at),
    endedAt: row.ended_at === null ? undefined : Number(row.ended_at),
    status: decodeOptional(row.status),
    stopReason: decodeOptional(row.stop_reason),
    errorCode: decodeOptional(row.error_code),
    turns: Number(row.turns),
    toolCalls: Number(row.tool_calls),
    tools: decodeList(row.tools),
    models: decodeList(row.models),
    usage: row.usage as SummaryRow["usage"],
    cost: Number(row.cost),
    tags: decodeList(row.tags),
    title: String(row.title),
  };
}

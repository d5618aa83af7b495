import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunQuery } from "../runtime/run-catalog.ts";
import type { Store } from "../runtime/store.ts";
import { postgres } from "./postgres/postgres.ts";
import { buildRunQuery as buildPostgresQuery } from "./postgres/run-queries.ts";
import { buildCountQuery, buildRunQuery as buildSqliteQuery } from "./sqlite/run-queries.ts";
import { sqlite } from "./sqlite/sqlite.ts";

const count = 100_000;
const middle = `startedAt~desc~${1e12 + count / 2}~${count / 2}`;
/** Pages that are read in the order of an index. */
const pages: readonly RunQuery[] = [
  {},
  { cursor: middle },
  { order: "asc", cursor: middle.replace("desc", "asc") },
  { scope: "user7" },
  { scope: "user7", cursor: middle },
  { from: 1e12 + 1_000, to: 1e12 + 90_000 },
  { status: "failed" },
  { tag: "tag3" },
];
/** Each with the number of runs that match. */
const filters: readonly (readonly [RunQuery, number])[] = [
  [{}, count],
  [{ scope: "user7" }, count / 100],
  [{ agent: "agent3" }, count / 5],
  [{ status: "failed" }, count / 20],
  [{ tag: "tag3", status: "done" }, count / 10],
  [{ model: "model1", tool: "tool1" }, count / 4],
  [{ minCost: 0.999 }, count / 1_000],
  [{ from: 1e12, to: 1e12 + 501 }, 500],
  [{ state: "ended" }, count],
  [{ state: "waiting" }, 0],
  [{ feedback: "none" }, count],
  [{ tool: "absent" }, 0],
];

/** The columns of run number `n` after its keys, as SQL that both databases understand. */
const describeRun = (
  quote: (name: string) => string,
) => `'user' || (n % 100), 'agent' || (n % 5), 1e12 + n, 1e12 + n + (n * 7919) % 60000,
  CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'done' END, n % 9, (n * 13) % 20000, ((n * 31) % 1000) / 1000.0,
  ${quote("'model' || (n % 4)")}, ${quote("'tool' || (n % 4)")}, ${quote("'tag' || (n % 10)")}, 'Question ' || n`;
const columns = "scope, agent, started_at, ended_at, status, turns, tokens, cost, models, tools, tags, title";

async function expectMatches(store: Store): Promise<void> {
  for (const [query, expected] of filters) {
    const { total } = await store.summarizeRuns({ ...query, bucketMs: 10_000 });
    expect([query, total.runs]).toEqual([query, expected]);
    for (const sort of ["startedAt", "cost", "ms", "tokens", "turns"] as const)
      expect((await store.queryRuns({ ...query, sort })).runs).toHaveLength(Math.min(50, expected));
  }
}

describe("100,000 runs in SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-runs-"));
  const file = join(folder, "store.db");
  let store: Store;
  let database: DatabaseSync;
  beforeAll(async () => {
    await sqlite(file).close();
    database = new DatabaseSync(file);
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
    database.exec(`BEGIN;
      ${numbers} INSERT INTO sessions (number, id, facts, created_at, updated_at)
        SELECT n, 'user' || (n % 100) || '~' || n, 1, 1, 1 FROM numbers;
      ${numbers} INSERT INTO runs (number, id, session, agent, state, started_at, updated_at)
        SELECT n, 'run' || n, n, 'agent', 'ended', 1e12 + n, 1e12 + n FROM numbers;
      ${numbers} INSERT INTO run_summaries (run, session, first_seq, ${columns})
        SELECT n, n, 1, ${describeRun((name) => `'["' || ${name} || '"]'`)} FROM numbers;
      COMMIT`);
    store = sqlite(file);
  });
  afterAll(async () => {
    database.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it("are paged in the order of an index: no page sorts or scans them", () => {
    for (const query of pages) {
      const { sql, values } = buildSqliteQuery(query, undefined);
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
      const steps = plan.map(({ detail }) => String(detail));
      const index = query.scope === undefined ? "run_summaries_by_time" : "run_summaries_by_scope_and_time";
      expect(steps.filter((step) => step.includes(`run_summaries USING INDEX ${index}`))).toHaveLength(1);
      // The page of 50 runs is sorted again after it was joined with its sessions.
      expect(steps.filter((step) => /TEMP B-TREE FOR ORDER BY/.test(step)).length).toBeLessThanOrEqual(1);
    }
  });

  it("are added up from an index that has all columns, without sorting them", () => {
    for (const filter of [{}, { scope: "user7" }, { agent: "agent3" }, { tag: "tag3" }, { from: 1e12 }]) {
      const { sql, values } = buildCountQuery(filter, { matches: undefined, bucketMs: 86_400_000 });
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
      const steps = plan.map(({ detail }) => String(detail));
      const index = filter.scope === undefined ? "run_summaries_by_hour" : "run_summaries_by_scope_and_hour";
      expect(steps.filter((step) => step.includes(`COVERING INDEX ${index}`))).toHaveLength(1);
      // The few open runs are sorted.
      expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toHaveLength(1);
    }
  });

  it("are counted and sorted by every filter", () => expectMatches(store));
});

describe.skipIf(!findPostgresFolder())("100,000 runs in PostgreSQL", () => {
  const schema = "many";
  let server: PostgresServer;
  let pool: pg.Pool;
  let store: Store;
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
    store = postgres(pool, { schema });
    await store.list();
    const numbers = `generate_series(1::bigint, ${count}) AS n`;
    await pool.query(`INSERT INTO ${schema}.runs (id, session_id, agent, state, started_at, updated_at)
        SELECT 'run' || n, 'user' || (n % 100) || '~' || n, 'agent', 'ended', 1e12 + n, 1e12 + n FROM ${numbers};
      INSERT INTO ${schema}.run_summaries (run_id, place, session_id, first_seq, ${columns})
        SELECT 'run' || n, n, 'user' || (n % 100) || '~' || n, 1, ${describeRun((name) => `ARRAY[${name}]`)} FROM ${numbers}`);
    await pool.query(`ANALYZE ${schema}.runs, ${schema}.run_summaries, ${schema}.ended_runs`);
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  it("are paged without reading more than a few thousand of them", async () => {
    const client = await pool.connect();
    const countReads = async () => {
      const { rows } = await client.query(`SELECT sum(pg_stat_get_xact_tuples_returned(relid)
        + pg_stat_get_xact_tuples_fetched(relid))::integer AS reads FROM pg_stat_xact_user_tables
        WHERE schemaname = '${schema}' AND relname IN ('run_summaries', 'ended_runs')`);
      return rows[0].reads as number;
    };
    try {
      await client.query("BEGIN");
      for (const query of pages) {
        const { text, values } = buildPostgresQuery(`"${schema}"`, query, undefined);
        const before = await countReads();
        expect((await client.query(text, values)).rows).toHaveLength(50);
        expect([query, (await countReads()) - before < 3_000]).toEqual([query, true]);
      }
      await client.query("ROLLBACK");
    } finally {
      client.release(true);
    }
  });

  it("are counted and sorted by every filter", () => expectMatches(store));
});

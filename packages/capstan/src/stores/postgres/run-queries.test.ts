import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunFilter, RunQuery, RunSort, RunSummary } from "../../runtime/run-catalog.ts";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease } from "../../testing/store-suite/facts-for-suite.ts";
import {
  createAnswerFact,
  createEnd,
  createOwnFact,
  createResult,
  createStart,
} from "../../testing/store-suite/summaries-suite.ts";
import { memory } from "../memory.ts";
import { sqlite } from "../sqlite/sqlite.ts";
import { postgres } from "./postgres.ts";

/** A run with values from small sets, so that many runs have the same ones. */
const plannedRuns = fc.record({
  scope: fc.constantFrom("", "ann~", "bob~"),
  agent: fc.constantFrom("guide", "clerk"),
  version: fc.option(fc.constantFrom("v1", "v2"), { nil: undefined }),
  at: fc.integer({ min: 1_000, max: 1_020 }),
  tags: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
  models: fc.array(fc.constantFrom("small", "big"), { maxLength: 3 }),
  tools: fc.array(fc.constantFrom("find", "mail"), { maxLength: 3 }),
  tokens: fc.constantFrom(1, 2, 3),
  end: fc.option(fc.record({ ms: fc.constantFrom(0, 10, 300), cost: fc.constantFrom(0, 0.5, 2) })),
  error: fc.option(fc.constantFrom("timeout", "provider_error")),
  isContinued: fc.boolean(),
  rating: fc.option(fc.constantFrom("up", "down", "note")),
});
type PlannedRun = typeof plannedRuns extends fc.Arbitrary<infer Plan> ? Plan : never;

const optional = <Value>(...values: Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 });
const filters: fc.Arbitrary<RunFilter> = fc.record({
  scope: optional("ann", ""),
  sessionId: optional("ann~s3", "s1"),
  agent: optional("guide"),
  version: optional("v1"),
  status: optional("done", "failed"),
  state: optional("active", "ended"),
  error: optional("timeout"),
  model: optional("big", "absent"),
  tool: optional("mail"),
  tag: optional("a", "b"),
  feedback: optional("up", "none"),
  from: optional(1_005),
  to: optional(1_015),
  minCost: optional(0.5),
  minMs: optional(10),
  q: optional("answer", "question 3"),
});
/** Few conditions at a time, because many select nothing. */
const someFilters = fc
  .tuple(filters, fc.uniqueArray(fc.nat(15), { maxLength: 3 }))
  .map(
    ([filter, chosen]): RunFilter =>
      Object.fromEntries(Object.entries(filter).filter((_, index) => chosen.includes(index))),
  );
const sorts: fc.Arbitrary<Pick<RunQuery, "sort" | "order" | "limit">> = fc.record({
  sort: optional<RunSort>("startedAt", "cost", "ms", "tokens", "turns"),
  order: optional<"asc" | "desc">("asc", "desc"),
  limit: fc.constantFrom(3, 50),
});

async function addRun(store: Store, run: PlannedRun, index: number): Promise<void> {
  const place = { sessionId: `${run.scope}s${index}`, runId: `r${index}`, agent: run.agent };
  const usage = { inputTokens: run.tokens, outputTokens: 1 };
  const version = run.version !== undefined && { agentVersion: run.version };
  const error = run.error && { error: { code: run.error, message: "", retryable: true } };
  const end = run.end && {
    ...{ usage, cost: run.end.cost, status: run.error ? "failed" : "done" },
    ...error,
  };
  const facts = [
    createStart(place, `Question ${index}`, { at: run.at, tags: run.tags, ...version }),
    ...run.models.map((model, turn) => createAnswerFact(place, usage, { turn, model })),
    ...run.tools.map((tool) => createResult(place, tool)),
    ...(run.end && end
      ? [createEnd(place, run.at + run.end.ms, end as Parameters<typeof createEnd>[2])]
      : []),
    ...(run.end && run.isContinued ? [createOwnFact(place, { type: "retried" }, run.at + 400)] : []),
  ];
  const lease = await acquireTestLease(store, place.sessionId);
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
  const rating = run.rating === "note" ? { note: "hm" } : run.rating && { rating: run.rating };
  if (rating) await store.putFeedback(place.runId, { ...rating, at: 1 });
}

/** Reads all pages. */
async function readPages(store: Store, query: RunQuery): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.queryRuns({ ...query, cursor });
    found.push(...page.runs);
    cursor = page.next;
    if (cursor === undefined) return found;
  }
}

describe.skipIf(!findPostgresFolder())("runs in PostgreSQL", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let schemas = 0;
  const openStore = () => postgres(pool, { schema: `runs_${schemas}` });
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  });
  afterAll(() => server?.stop());

  it("are selected, sorted and added up as in memory and in SQLite, over random runs and queries", async () => {
    const runs = fc.array(plannedRuns, { minLength: 15, maxLength: 25 });
    const queries = fc.array(fc.tuple(someFilters, sorts), { minLength: 40, maxLength: 40 });
    const check = fc.asyncProperty(runs, queries, async (planned, asked) => {
      schemas += 1;
      const [expected, ...stores] = [memory(), sqlite(":memory:"), openStore()] as const;
      for (const store of [expected, ...stores])
        for (const [index, run] of planned.entries()) await addRun(store, run, index);
      for (const [filter, sort] of asked) {
        const pages = await readPages(expected, { ...filter, ...sort });
        const totals = await expected.summarizeRuns({ ...filter, bucketMs: 7 });
        for (const store of stores) {
          const found = await readPages(store, { ...filter, ...sort });
          expect(found).toEqual(pages);
          expect(await store.summarizeRuns({ ...filter, bucketMs: 7 })).toEqual(totals);
        }
      }
      await Promise.all(stores.map((store) => store.close()));
    });
    await fc.assert(check, { numRuns: process.env.CAPSTAN_LONG === "1" ? 30 : 2 });
  }, 240_000);

  it("of a schema without the table of ended runs are migrated, with those that an earlier program still writes (F71, F78)", async () => {
    schemas += 1;
    const planned = fc.sample(plannedRuns, { numRuns: 12, seed: 4 });
    const before = openStore();
    for (const [index, run] of planned.entries()) await addRun(before, run, index);
    const expected = await readPages(before, { sort: "cost" });
    const totals = await before.summarizeRuns({ bucketMs: 7 });
    await before.close();
    const schema = `runs_${schemas}`;
    await pool.query(`DROP TABLE ${schema}.ended_runs; DROP FUNCTION ${schema}.copy_ended_run CASCADE;
      DROP FUNCTION ${schema}.delete_ended_run CASCADE;
      DROP INDEX ${schema}.run_summaries_by_place, ${schema}.run_summaries_open_by_scope;
      ALTER TABLE ${schema}.run_summaries ADD COLUMN names bigint GENERATED ALWAYS AS (1) STORED;
      CREATE INDEX run_summaries_by_names ON ${schema}.run_summaries (names);
      CREATE INDEX run_summaries_by_list ON ${schema}.run_summaries USING gin (tags, tools, models)`);
    const after = openStore();
    expect(await readPages(after, { sort: "cost" })).toEqual(expected);
    expect(await after.summarizeRuns({ bucketMs: 7 })).toEqual(totals);
    await pool.query(`UPDATE ${schema}.run_summaries SET cost = 9 WHERE run_id = 'r0'`);
    expect((await after.queryRuns({ sort: "cost", limit: 1 })).runs).toMatchObject([
      { runId: "r0", cost: 9 },
    ]);
    for (const { sessionId } of (await after.queryRuns()).runs) await after.remove(sessionId);
    expect((await pool.query(`SELECT count(*)::integer AS runs FROM ${schema}.ended_runs`)).rows).toEqual([
      { runs: 0 },
    ]);
    await after.close();
  });
});

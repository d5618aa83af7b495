import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../runtime/store.ts";
import { acquireTestLease, createStartFact } from "../../testing/store-suite/facts-for-suite.ts";
import { postgres } from "./postgres.ts";

describe.skipIf(!findPostgresFolder())("partitions of facts", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  });
  afterAll(() => server?.stop());

  async function writeSessions(store: Store, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const lease = await acquireTestLease(store, `s${index}`);
      await store.append([createStartFact(`s${index}`, `r${index}`)], { expected: 0, lease });
    }
  }

  it("share the sessions; readers use one of them, and later stores need no option", async () => {
    const store = postgres(pool, { schema: "split", partitions: 4 });
    await writeSessions(store, 40);
    const later = postgres(pool, { schema: "split" });
    expect(await later.read("s7")).toMatchObject([{ runId: "r7", seq: 1 }]);
    const counts = await pool.query(
      "SELECT count(*)::integer AS count FROM split.facts GROUP BY tableoid ORDER BY tableoid",
    );
    expect(counts.rows).toHaveLength(4);
    const plan = await pool.query("EXPLAIN SELECT * FROM split.facts WHERE session_id = 's7' AND seq > 0");
    const tables = JSON.stringify(plan.rows).match(/facts_\d/g);
    expect(new Set(tables).size).toBe(1);
    await later.remove("s7");
    expect(await store.read("s7")).toEqual([]);
  });

  it("cannot be added to an existing schema, and nothing is changed", async () => {
    await writeSessions(postgres(pool, { schema: "whole" }), 1);
    const store = postgres(pool, { schema: "whole", partitions: 4 });
    const message = /schema "whole" is not partitioned, but `partitions` is 4\. Only a new schema/;
    await expect(store.list()).rejects.toMatchObject({ code: "invalid_definition" });
    await expect(store.list()).rejects.toThrow(message);
    expect(await postgres(pool, { schema: "whole" }).list()).toHaveLength(1);
  });

  it.each([0, 1, 2.5, 257, Number.NaN])("are not %s", (partitions) => {
    expect(() => postgres(pool, { partitions })).toThrow("must be an integer from 2 to 256");
  });
});

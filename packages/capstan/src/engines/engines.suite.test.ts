import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { postgres } from "../stores/postgres/postgres.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { type EngineUnderTest, engineSuite } from "../testing/engine-suite.ts";
import { adaptEngine } from "../testing/engine-under-test.ts";
import { local } from "./local.ts";

engineSuite("local", () => adaptEngine(memory(), (options) => local(options)), {
  isRemote: true,
  share: 0.2,
});

/** An engine that closes its store, too. */
async function createLocal(store: Store): Promise<EngineUnderTest> {
  const engine = await adaptEngine(store, (options) => local(options));
  return {
    ...engine,
    async close() {
      await engine.close?.();
      await store.close();
    },
  };
}

describe("on SQLite", () => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-engine-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;

  engineSuite("local", () => createLocal(sqlite(join(folder, `${++files}.db`))), {
    isRemote: true,
    share: 0.02,
  });
});

describe.skipIf(!findPostgresFolder())("on Postgres", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  });
  afterAll(() => server?.stop());

  engineSuite("local", () => createLocal(postgres(pool, { schema: `engine_${++schemas}` })), {
    isRemote: true,
    share: 0.02,
  });
});

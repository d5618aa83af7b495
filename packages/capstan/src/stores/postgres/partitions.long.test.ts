import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { storeSuite } from "../../testing/store-suite.ts";
import { postgres } from "./postgres.ts";

describe.skipIf(!findPostgresFolder())("on a PostgreSQL with partitioned facts", () => {
  let server: PostgresServer;
  let pools: pg.Pool[] = [];
  let schemas = 0;
  const open = (index: number) =>
    postgres(pools[index] as pg.Pool, { schema: `store_${schemas}`, partitions: 4 });
  beforeAll(async () => {
    server = await startPostgres();
    pools = [server.pool(), server.pool()];
  });
  afterAll(() => server?.stop());

  const create = () => {
    schemas += 1;
    return open(0);
  };
  storeSuite("postgres", create, { second: () => open(1) });
});

import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { memory } from "capstan/stores/memory";
import { adaptEngine, engineSuite } from "capstan/testing/engine-suite";
import { afterAll, beforeAll, describe } from "vitest";
import { dbos } from "./dbos.ts";

describe.skipIf(!findPostgresFolder())("with stores in memory", () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  engineSuite(
    "dbos",
    () =>
      adaptEngine(memory(), (options) => {
        count += 1; // every engine has a store of its own, and so a name of its own
        const name = `engine ${count}`;
        return dbos({ ...options, databaseUrl: server.url, name, pollMs: 20, recoverEveryMs: 100 });
      }),
    { isRemote: true, share: 0.02 },
  );
});

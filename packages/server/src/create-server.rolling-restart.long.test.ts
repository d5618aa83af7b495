import { findPostgresFolder, startPostgres } from "@capstan/verification/postgres";
import { expect, it } from "vitest";
import { restartInTurn } from "./testing/rolling-restart.ts";

it.skipIf(!findPostgresFolder())(
  "three rolling restarts with 40 runs each lose no run and no event (F82, F84)",
  async () => {
    const postgres = await startPostgres();
    try {
      for (let round = 0; round < 3; round++)
        await restartInTurn({ type: "postgres", url: postgres.url }, 40);
    } finally {
      await postgres.stop();
    }
    expect.hasAssertions();
  },
);

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, startServerWorker } from "../testing/start-server-worker.ts";

describe.skipIf(!findPostgresFolder())("200 parallel requests of one user to two servers on Postgres", () => {
  let postgres: PostgresServer;
  let servers: readonly ServerProcess[];
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "capstan-quotas-"));
    postgres = await startPostgres();
    const quotas = { default: { runs: { day: 100 }, concurrentRuns: 10 } };
    const order = { store: { type: "postgres", url: postgres.url }, port: 0, quotas } as const;
    const start = (name: string) => startServerWorker({ ...order, canary: join(folder, name) });
    servers = await Promise.all([start("a"), start("b")]);
  });
  afterAll(async () => {
    await Promise.all(servers?.map((server) => server.kill()) ?? []);
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  const start = async (server: ServerProcess | undefined, plan: object[]) => {
    const response = await fetch(`${server?.url}/api/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: JSON.stringify(plan) }),
    });
    await response.text();
    return response.status;
  };
  const startMany = (plan: object[]) =>
    Promise.all(Array.from({ length: 200 }, (_, n) => start(servers[n % 2], plan)));
  const count = (statuses: readonly number[], status: number) =>
    statuses.filter((one) => one === status).length;
  const loadUsage = async () => (await fetch(`${servers[1]?.url}/api/usage`)).json();

  it("never exceed a quota, also when one of the servers is killed (A92)", async () => {
    const hanging = [{ say: "one two", waitFor: join(folder, "never") }];
    const first = await startMany(hanging);
    expect([count(first, 201), count(first, 429)]).toEqual([10, 190]);
    await servers[0]?.kill();
    // The other server takes the runs over: they still count.
    expect(await start(servers[1], hanging)).toBe(429);
    expect(await loadUsage()).toMatchObject({ activeRuns: 10, windows: { day: { runs: 10 } } });
  });
});

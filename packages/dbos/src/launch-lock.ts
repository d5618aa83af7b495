import { setTimeout as pause } from "node:timers/promises";
import { getClientConfig } from "@dbos-inc/dbos-sdk/internal/utils";
import pg from "pg";

export type LaunchLockOptions = {
  readonly databaseUrl: string;
  readonly schema: string;
  /** Ends the wait for another process. */
  readonly signal: AbortSignal;
};

const pollMs = 100;

/**
 * Calls `launch` while no other process does so for the same schema. DBOS creates and migrates its tables when it is
 * launched: two processes that do this at the same time can leave them in a state in which no launch succeeds again.
 */
export async function withLaunchLock(
  { databaseUrl, schema, signal }: LaunchLockOptions,
  launch: () => Promise<void>,
): Promise<void> {
  const client = new pg.Client(getClientConfig(databaseUrl));
  client.on("error", () => undefined); // the lock is lost with the connection, and the launch fails for the same reason
  try {
    await client.connect();
    await client.query("BEGIN"); // a lock of a transaction is released behind every connection pooler, too
    while (!(await tryLock(client, schema))) await pause(pollMs, undefined, { signal });
    await launch();
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Postgres builds the indexes of DBOS when no other transaction has a snapshot. So this does not wait in Postgres, and it
 * passes no parameters: a statement with parameters keeps its snapshot until the next one.
 */
async function tryLock(client: pg.Client, schema: string): Promise<boolean> {
  const key = `hashtextextended(${client.escapeLiteral(`capstan launches DBOS in ${schema}`)}, 0)`;
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${key}) AS locked`,
  );
  return rows[0]?.locked === true;
}

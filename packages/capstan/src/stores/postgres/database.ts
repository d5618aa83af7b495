import { AgentError } from "../../base/errors.ts";
import { migrate } from "./migrations.ts";
import type { PostgresPool, PostgresRow } from "./pool.ts";
import { isTransient, toStoreError } from "./store-error.ts";

/** SQL with placeholders `$1`, `$2`… and their values. */
export type Statement = { readonly text: string; readonly values: unknown[] };

/** Runs statements. `action` completes "could not" in errors. */
export interface Queries {
  query(action: string, statement: Statement): Promise<readonly PostgresRow[]>;
}

/** The pool, with the schema created before the first statement. `query` retries transient errors, so it must be idempotent. */
export interface Database extends Queries {
  /** Runs statements in one transaction, which is rolled back if `run` rejects. Nothing is retried. */
  runTransaction<Result>(action: string, run: (transaction: Queries) => Promise<Result>): Promise<Result>;
  /** Runs a statement once and throws errors unchanged. */
  attempt(statement: Statement): Promise<readonly PostgresRow[]>;
  close(): void;
}

const retryDelaysMs = [20, 80, 320];

/** Opens the database. Creates or migrates the schema on first use. */
export function openDatabase(pool: PostgresPool, schema: string, partitions = 0): Database {
  let isClosed = false;
  let schemaReady: Promise<void> | undefined;
  pool.on("error", ignoreIdleError);

  function ensureSchema(): Promise<void> {
    schemaReady ??= migrate(pool, schema, partitions).catch((error) => {
      schemaReady = undefined;
      throw error;
    });
    return schemaReady;
  }

  function assertOpen(): void {
    if (!isClosed) return;
    const message = "The Postgres store is closed. Open a new one.";
    throw new AgentError("store_failed", message, { retryable: false });
  }

  async function attempt({ text, values }: Statement): Promise<readonly PostgresRow[]> {
    assertOpen();
    await ensureSchema();
    return (await pool.query(text, values)).rows;
  }

  return {
    attempt,
    async query(action, statement) {
      for (const pauseMs of retryDelaysMs) {
        try {
          return await attempt(statement);
        } catch (error) {
          if (!isTransient(error)) throw toStoreError(action, error);
          await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
        }
      }
      return attempt(statement).catch((error) => {
        throw toStoreError(action, error);
      });
    },
    async runTransaction(action, run) {
      assertOpen();
      try {
        await ensureSchema();
        return await runOnClient(pool, run);
      } catch (error) {
        throw toStoreError(action, error);
      }
    },
    close() {
      isClosed = true;
      pool.off("error", ignoreIdleError);
    },
  };
}

async function runOnClient<Result>(
  pool: PostgresPool,
  run: (transaction: Queries) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query("BEGIN");
    const result = await run({
      query: async (_action, { text, values }) => (await client.query(text, values)).rows,
    });
    await client.query("COMMIT");
    isBroken = false;
    return result;
  } finally {
    client.release(isBroken); // discarding a connection rolls back its transaction
  }
}

/** The pool replaces idle connections that fail; without a listener, the error would end the process. */
function ignoreIdleError(): undefined {
  return undefined;
}

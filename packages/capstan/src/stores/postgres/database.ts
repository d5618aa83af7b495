import { AgentError } from "../../errors.ts";
import { migrate } from "./migrations.ts";
import type { PostgresPool, PostgresRow } from "./pool.ts";
import { isTransient, toStoreError } from "./store-error.ts";

/** SQL with placeholders `$1`, `$2`… and their values. */
export type Statement = { readonly text: string; readonly values: unknown[] };

/** The pool, with the schema created before the first statement. */
export interface Database {
  /** Runs a statement and retries transient errors, so it must be idempotent. `action` completes "could not" in errors. */
  query(action: string, statement: Statement): Promise<readonly PostgresRow[]>;
  /** Runs a statement once and throws errors unchanged. */
  attempt(statement: Statement): Promise<readonly PostgresRow[]>;
  close(): void;
}

const retryDelaysMs = [20, 80, 320];

/** Opens the database. Creates or migrates the schema on first use. */
export function openDatabase(pool: PostgresPool, schema: string): Database {
  let isClosed = false;
  let schemaReady: Promise<void> | undefined;
  pool.on("error", ignoreIdleError);

  function ensureSchema(): Promise<void> {
    schemaReady ??= migrate(pool, schema).catch((error) => {
      schemaReady = undefined;
      throw error;
    });
    return schemaReady;
  }

  async function attempt({ text, values }: Statement): Promise<readonly PostgresRow[]> {
    if (isClosed) {
      const message = "The Postgres store is closed. Open a new one.";
      throw new AgentError("store_failed", message, { retryable: false });
    }
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
    close() {
      isClosed = true;
      pool.off("error", ignoreIdleError);
    },
  };
}

/** The pool replaces idle connections that fail; without a listener, the error would end the process. */
function ignoreIdleError(): undefined {
  return undefined;
}

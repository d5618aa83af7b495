import { AgentError } from "../../errors.ts";
import { migrate } from "./migrations.ts";
import type { PostgresPool, PostgresRow } from "./pool.ts";
import { isPassing, storeFailure } from "./store-error.ts";

/** SQL with `$1`, `$2`… and their values. */
export type Statement = { readonly text: string; readonly values: unknown[] };

/** The pool, with the schema in place before the first statement. */
export interface Database {
  /** One statement, which is repeated when the trouble is passing: it must be one that can be. */
  query(what: string, statement: Statement): Promise<readonly PostgresRow[]>;
  /** One attempt, with the errors as they are. */
  attempt(statement: Statement): Promise<readonly PostgresRow[]>;
  close(): void;
}

const pausesMs = [20, 80, 320];

/** Makes or migrates the schema on first use. */
export function openDatabase(pool: PostgresPool, schema: string): Database {
  let isClosed = false;
  let isReady: Promise<void> | undefined;
  pool.on("error", ignoreIdle);

  function prepared(): Promise<void> {
    isReady ??= migrate(pool, schema).catch((error) => {
      isReady = undefined;
      throw error;
    });
    return isReady;
  }

  async function attempt({ text, values }: Statement): Promise<readonly PostgresRow[]> {
    if (isClosed) {
      const message = "The Postgres store has been closed: open a new one.";
      throw new AgentError("store_failed", message, { retryable: false });
    }
    await prepared();
    return (await pool.query(text, values)).rows;
  }

  return {
    attempt,
    async query(what, statement) {
      for (const pauseMs of pausesMs) {
        try {
          return await attempt(statement);
        } catch (error) {
          if (!isPassing(error)) throw storeFailure(what, error);
          await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
        }
      }
      return attempt(statement).catch((error) => {
        throw storeFailure(what, error);
      });
    },
    close() {
      isClosed = true;
      pool.off("error", ignoreIdle);
    },
  };
}

/** A connection that dies while nobody uses it is replaced by the pool; unheard, its error would end the process. */
function ignoreIdle(): undefined {
  return undefined;
}

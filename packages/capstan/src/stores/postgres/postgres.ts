// Sessions in PostgreSQL, for servers: several processes may use one database. Tested with version 18.
//
// Everything is in one schema (`postgres-schema.ts`): `facts`, one row each with its JSON as text, numbered per
// session; `sessions`, `runs` and `told` (messages to runs), which follow from the facts and are written with them;
// `leases`, whose row is locked by every append of the session; `blobs`; `records`; and `version`. Ids are stored as
// they stand in JSON between the quotes. What is new is told to other processes by NOTIFY on a channel with the
// schema's name, in the transaction that stores it; live pieces in batches. Whoever may connect to the database can
// listen there.
import { AgentError } from "../../errors.ts";
import type { RunMessage, Store } from "../../store.ts";
import { assertTellable } from "../store-rules.ts";
import { type Watchers, watchers } from "../watchers.ts";
import { openAppends } from "./append.ts";
import { postgresBlobs } from "./blobs.ts";
import { postgresCatalogue } from "./catalog.ts";
import { type Database, openDatabase } from "./database.ts";
import { postgresLeases } from "./leases.ts";
import { openListener } from "./listener.ts";
import { quotedSchema } from "./migrations.ts";
import { openOutbox } from "./outbox.ts";
import type { PostgresPool } from "./pool.ts";
import { postgresRecords } from "./records.ts";
import { channelOf } from "./sql-functions.ts";
import { storeFailure } from "./store-error.ts";
import { originalJson, originalText, storedText } from "./stored-text.ts";

export type { PostgresClient, PostgresPool } from "./pool.ts";

/** How the store uses the database. */
export type PostgresOptions = {
  /** Where the store has its tables; made when it is not there. */
  readonly schema?: string;
};

/**
 * Keeps sessions in PostgreSQL. `pool` is one of pg 8, with two connections at least: one is kept to listen from the
 * first `watch` until `close`. Whoever made the pool ends it, after the store is closed.
 */
export function postgres(pool: PostgresPool, options: PostgresOptions = {}): Store {
  const schema = quotedSchema(options.schema ?? "capstan");
  assertTwoConnections(pool);
  const origin = crypto.randomUUID();
  const database = openDatabase(pool, schema);
  const hearing = watchers();
  const appends = openAppends(database, { schema, origin });
  const outbox = openOutbox(origin, async (payloads) => {
    const text = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
    await database.attempt({ text, values: [channelOf(schema), payloads] }).catch(() => undefined); // shown, never stored
  });
  const prepare = () => database.query("open", { text: "SELECT 1", values: [] });
  const catalogue = postgresCatalogue(database, schema);
  const listener = openListener({ pool, schema, origin, watchers: hearing, prepare });

  return {
    ...catalogue,
    ...postgresLeases(database, schema),
    ...postgresBlobs(database, schema),
    ...postgresRecords(database, schema),
    ...inbox(database, { schema, origin }, hearing),
    async append(facts, at) {
      const { sessionId } = at.lease;
      try {
        return await appends.append(facts, at, await outbox.take(sessionId));
      } catch (error) {
        throw storeFailure("append facts", error);
      } finally {
        hearing.tell(sessionId, { type: "facts" }); // after a failure too: the answer alone may have been lost
      }
    },
    async remove(sessionId) {
      await catalogue.remove(sessionId);
      hearing.forget(sessionId);
    },
    publish(sessionId, pieces) {
      if (pieces.length === 0) return;
      hearing.publish(sessionId, pieces);
      outbox.add(sessionId, pieces);
    },
    watch(sessionId, hear) {
      listener.start();
      return hearing.watch(sessionId, hear);
    },
    async close() {
      await appends.settled();
      await outbox.flush();
      database.close();
      await listener.close();
    },
  };
}

function inbox(
  database: Database,
  { schema, origin }: { readonly schema: string; readonly origin: string },
  hearing: Watchers,
): Pick<Store, "sendMessage" | "listMessages"> {
  return {
    async sendMessage(runId, message) {
      const text = `SELECT session, answer FROM ${schema}.tell($1, $2, $3, $4)`;
      const values = [storedText(runId), storedText(message.key), JSON.stringify(message), origin];
      const [row] = await database.query("tell a run something", { text, values });
      if (row?.answer !== "told") return assertTellable(runId, row && { state: "ended" });
      hearing.tell(originalText(row.session), { type: "message", runId });
    },
    async listMessages(runId) {
      const text = `SELECT body FROM ${schema}.told WHERE run_id = $1 AND NOT heard ORDER BY place`;
      const rows = await database.query("read what a run was told", { text, values: [storedText(runId)] });
      return rows.map(({ body }) => originalJson<RunMessage>(body));
    },
  };
}

function assertTwoConnections({ options }: PostgresPool): void {
  if (options?.max === undefined || options.max >= 2) return;
  const message = "The Postgres store needs a pool of two connections at least: one is kept to listen.";
  throw new AgentError("invalid_definition", message);
}

// Stores sessions in PostgreSQL, for servers: several processes can share one database. Tested with version 18.
//
// Everything is in one schema (`migrations.ts`): `facts`, one row each with its JSON as text, numbered per session;
// `sessions`, `runs` and `told` (messages to runs), which are derived from the facts and written with them; `leases`,
// whose row is locked by every append of the session; `blobs`; `records`; `snapshots`; and `version`. Ids are stored as in a JSON
// string, without the quotes. Other processes are notified by NOTIFY on a channel named after the schema, in the
// transaction that stores the data; deltas are sent in batches. Any user who can connect to the database can listen.
import { AgentError } from "../../errors.ts";
import type { RunMessage, Store } from "../../store.ts";
import { assertAcceptsMessages, assertCanRetry } from "../store-rules.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import { createAppendQueue } from "./append.ts";
import { createBlobs } from "./blobs.ts";
import { createCatalog } from "./catalog.ts";
import { type Database, openDatabase } from "./database.ts";
import { createLeases } from "./leases.ts";
import { openListener } from "./listener.ts";
import { quoteSchema } from "./migrations.ts";
import { createOutbox } from "./outbox.ts";
import type { PostgresPool } from "./pool.ts";
import { createRecords } from "./records.ts";
import { createSearch } from "./search.ts";
import { createSnapshots } from "./snapshots.ts";
import { getChannel } from "./sql-functions.ts";
import { toStoreError } from "./store-error.ts";
import { decodeFact, decodeJson, decodeText, encodeText } from "./stored-text.ts";
import { createWriteSession } from "./write-session.ts";

export type { PostgresClient, PostgresPool } from "./pool.ts";

/** Options of the Postgres store. */
export type PostgresOptions = {
  /** Schema for the tables, created if missing. Default: `capstan`. */
  readonly schema?: string;
};

/**
 * Stores sessions in PostgreSQL. `pool` is a pg 8 pool with at least two connections: one of them listens from the first
 * `watch` until `close`. The caller ends the pool after closing the store.
 */
export function postgres(pool: PostgresPool, options: PostgresOptions = {}): Store {
  const schema = quoteSchema(options.schema ?? "capstan");
  assertTwoConnections(pool);
  const origin = crypto.randomUUID();
  const database = openDatabase(pool, schema);
  const watchers = createWatchers();
  const appends = createAppendQueue(database, { schema, origin });
  const outbox = createOutbox(origin, async (payloads) => {
    const text = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
    await database.attempt({ text, values: [getChannel(schema), payloads] }).catch(() => undefined); // deltas are displayed, never stored
  });
  const prepare = () => database.query("open", { text: "SELECT 1", values: [] });
  const catalog = createCatalog(database, schema);
  const writeSession = createWriteSession(database, { schema, origin });
  const listener = openListener({ pool, schema, origin, watchers: watchers, prepare });

  return {
    ...catalog,
    ...createSearch(database, schema),
    ...createLeases(database, schema),
    ...createBlobs(database, schema),
    ...createRecords(database, schema),
    ...createSnapshots(database, schema),
    ...createRunMessages(database, { schema, origin }, watchers),
    async append(facts, at) {
      const { sessionId } = at.lease;
      try {
        return await appends.append(facts, at, await outbox.take(sessionId));
      } catch (error) {
        throw toStoreError("append facts", error);
      } finally {
        watchers.notify(sessionId, { type: "facts" }); // after a failure too: only the response may have been lost
      }
    },
    async writeSession(at, write) {
      await writeSession(at, write);
      watchers.notify(at.lease.sessionId, { type: "facts" });
    },
    async remove(sessionId) {
      await catalog.remove(sessionId);
      watchers.delete(sessionId);
    },
    publish(sessionId, deltas) {
      if (deltas.length === 0) return;
      watchers.publish(sessionId, deltas);
      outbox.add(sessionId, deltas);
    },
    watch(sessionId, onNotice) {
      listener.start();
      return watchers.watch(sessionId, onNotice);
    },
    async close() {
      await appends.settled();
      await outbox.flush();
      database.close();
      await listener.close();
    },
  };
}

function createRunMessages(
  database: Database,
  { schema, origin }: { readonly schema: string; readonly origin: string },
  watchers: Watchers,
): Pick<Store, "sendMessage" | "listMessages"> {
  /** Stores a retry and marks the ended run as waiting: it has work again, so that any process takes it over. */
  async function reopenRun(runId: string, session: unknown, message: RunMessage): Promise<void> {
    const lastFact = `SELECT seq, version, body FROM ${schema}.facts WHERE session_id = $1 ORDER BY seq DESC LIMIT 1`;
    const [row] = await database.query("read a session", { text: lastFact, values: [session] });
    assertCanRetry(runId, row && decodeFact(row));
    const text = `WITH reopened AS (
        UPDATE ${schema}.runs SET state = 'waiting' WHERE id = $1 AND state = 'ended' RETURNING id)
      INSERT INTO ${schema}.told (run_id, key, body) SELECT id, $2, $3 FROM reopened ON CONFLICT DO NOTHING`;
    const values = [encodeText(runId), encodeText(message.key), JSON.stringify(message)];
    await database.query("retry a run", { text, values });
  }

  return {
    async sendMessage(runId, message) {
      const text = `SELECT session, answer FROM ${schema}.tell($1, $2, $3, $4)`;
      const values = [encodeText(runId), encodeText(message.key), JSON.stringify(message), origin];
      const tell = () => database.query("send a message to a run", { text, values });
      let [row] = await tell();
      if (row?.answer === "ended" && message.type === "retry") {
        await reopenRun(runId, row.session, message);
        [row] = await tell(); // another process may have reopened the run first
      }
      if (row?.answer !== "told") return assertAcceptsMessages(runId, row && { state: "ended" });
      watchers.notify(decodeText(row.session), { type: "message", runId });
    },
    async listMessages(runId) {
      const text = `SELECT body FROM ${schema}.told WHERE run_id = $1 AND NOT heard ORDER BY place`;
      const rows = await database.query("list the messages of a run", { text, values: [encodeText(runId)] });
      return rows.map(({ body }) => decodeJson<RunMessage>(body));
    },
  };
}

function assertTwoConnections({ options }: PostgresPool): void {
  if (options?.max === undefined || options.max >= 2) return;
  const message = "The Postgres store needs a pool of at least two connections: one of them listens.";
  throw new AgentError("invalid_definition", message);
}

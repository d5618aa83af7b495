// Stores sessions in PostgreSQL, for servers: several processes can share one database. Tested with version 18.
//
// Everything is in one schema (`migrations.ts`): `facts`, one row each with its JSON as text, numbered per session;
// `sessions`, `runs` and `told` (messages to runs), which are derived from the facts and written with them; `leases`,
// whose row is locked by every append of the session; `ready` (runs that any process can take over); `blobs`; `records`;
// `snapshots`; `run_summaries` and `ended_runs`; and `version`. Ids are stored as in a JSON string, without the quotes. Other processes are notified on a
// bus, after the transaction that stores the data and in batches (`notices.ts`): by default with NOTIFY, on a channel
// per session.

import { AgentError } from "../../base/errors.ts";
import type { DeltaBus } from "../../buses/delta-bus.ts";
import { assertFactTypes } from "../../kernel/fact-types.ts";
import type { RunMessage, Store } from "../../runtime/store.ts";
import { assertAcceptsMessages, assertCanRetry } from "../store-rules.ts";
import { createWatchers, withWorkNotices } from "../watchers.ts";
import { createAppendQueue } from "./append.ts";
import { createBlobs } from "./blobs.ts";
import { createCatalog } from "./catalog.ts";
import { type Database, openDatabase } from "./database.ts";
import { createLeases } from "./leases.ts";
import { quoteSchema } from "./migrations.ts";
import { createNotices, type Notices } from "./notices.ts";
import { createOrphans } from "./orphans.ts";
import { assertPartitionCount } from "./partitions.ts";
import type { PostgresPool } from "./pool.ts";
import { openPostgresBus } from "./postgres-bus.ts";
import { createRecords } from "./records.ts";
import { createRequests } from "./requests.ts";
import { createRunCounts } from "./run-counts.ts";
import { createRunQueries } from "./run-queries.ts";
import { createSearch } from "./search.ts";
import { createSnapshots } from "./snapshots.ts";
import { unquoteSchema } from "./sql-functions.ts";
import { toStoreError } from "./store-error.ts";
import { decodeFact, decodeJson, decodeText, encodeText } from "./stored-text.ts";
import { createWriteSession } from "./write-session.ts";

export type { PostgresClient, PostgresPool } from "./pool.ts";

/** Options of the Postgres store. */
export type PostgresOptions = {
  /** Schema for the tables, created if missing. Default: `capstan`. */
  readonly schema?: string;
  /** Carries live deltas and notices between processes; all of them need the same one. Default: LISTEN and NOTIFY. */
  readonly bus?: DeltaBus;
  /**
   * Creates the table of facts with this many partitions (2 to 256), by a hash of the session. Only for a new schema:
   * with an existing one of another number, every method rejects with `invalid_definition`. Processes that open the
   * schema later may omit it. Default: one table.
   */
  readonly partitions?: number;
};

/**
 * Stores sessions in PostgreSQL. `pool` is a pg 8 pool with at least two connections: without a `bus`, one of them
 * listens from the first `watch` until `close`. The caller ends the pool after closing the store.
 */
export function postgres(pool: PostgresPool, options: PostgresOptions = {}): Store {
  const schema = quoteSchema(options.schema ?? "capstan");
  assertTwoConnections(pool);
  if (options.partitions !== undefined) assertPartitionCount(options.partitions);
  const database = openDatabase(pool, schema, options.partitions);
  const watchers = createWatchers();
  const appends = createAppendQueue(database, schema);
  const ownBus = openNotifyBus({ pool, database, schema }); // connects when it is used
  const { bus = ownBus } = options;
  const notices = createNotices({ database, schema, bus, watchers });
  const catalog = createCatalog(database, schema);
  const leases = createLeases(database, schema);
  const messages = createRunMessages(database, schema, notices.onMessage);
  const writeSession = createWriteSession(database, schema);

  const append: Store["append"] = async (facts, at) => {
    const { sessionId } = at.lease;
    assertFactTypes(facts);
    try {
      const appended = await appends.append(facts, at);
      notices.onFacts(sessionId, appended.at(-1)?.seq);
      return appended;
    } catch (error) {
      notices.onFacts(sessionId); // only the response may have been lost
      throw toStoreError("append facts", error);
    }
  };
  const release: Store["release"] = async (lease) => {
    notices.onRelease(lease.sessionId);
    await leases.release(lease);
  };

  return {
    ...catalog,
    ...createSearch(database, schema),
    ...createOrphans(database, schema, notices.onWork),
    ...leases,
    ...createRunCounts(database, schema),
    ...createRunQueries(database, schema),
    ...createBlobs(database, schema),
    ...createRecords(database, schema),
    ...createRequests(database, schema),
    ...createSnapshots(database, schema),
    ...messages,
    ...withWorkNotices({ append, release, sendMessage: messages.sendMessage }, notices.onWork),
    publish: notices.publish,
    watch: notices.watch,
    watchWork: notices.watchWork,
    async writeSession(at, write) {
      await writeSession(at, write);
      notices.onFacts(at.lease.sessionId);
      notices.onRelease(at.lease.sessionId);
    },
    async remove(sessionId) {
      await catalog.remove(sessionId);
      watchers.delete(sessionId);
    },
    async close() {
      await appends.settled();
      await notices.close();
      database.close();
      await ownBus.close();
    },
  };
}

type NotifyBusOptions = {
  readonly pool: PostgresPool;
  readonly database: Database;
  readonly schema: string;
};

function openNotifyBus({ pool, database, schema }: NotifyBusOptions): ReturnType<typeof openPostgresBus> {
  return openPostgresBus({
    pool,
    prefix: unquoteSchema(schema),
    prepare: () => database.query("open", { text: "SELECT 1", values: [] }),
    notify(channels, payloads) {
      const text =
        "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS notice (channel, payload)";
      return database.attempt({ text, values: [channels, payloads] });
    },
  });
}

function createRunMessages(
  database: Database,
  schema: string,
  onMessage: Notices["onMessage"],
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
      const text = `SELECT session, answer FROM ${schema}.tell($1, $2, $3, '')`;
      const values = [encodeText(runId), encodeText(message.key), JSON.stringify(message)];
      const tell = () => database.query("send a message to a run", { text, values });
      let [row] = await tell();
      if (row?.answer === "ended" && message.type === "retry") {
        await reopenRun(runId, row.session, message);
        [row] = await tell(); // another process may have reopened the run first
      }
      if (row?.answer !== "told") return assertAcceptsMessages(runId, row && { state: "ended" });
      onMessage(decodeText(row.session), runId);
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

import type { PositionedDelta, StoreNotice } from "../../store.ts";
import type { Watchers } from "../watchers.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { originalText, storedText } from "./stored-text.ts";

type Listening = {
  readonly pool: PostgresPool;
  readonly schema: string;
  /** The name under which this store sends: its own watchers have heard of that already. */
  readonly origin: string;
  readonly watchers: Watchers;
  /** Resolves when the schema is there. */
  prepare(): Promise<unknown>;
};

const longestPauseMs = 5_000;
const beatMs = 15_000;

/** Hears what other processes say, over one connection that is opened when it is first needed and kept open. */
export function openListener(listening: Listening): { start(): void; close(): Promise<void> } {
  const stop = new AbortController();
  let going: Promise<void> | undefined;

  async function go(): Promise<void> {
    for (let failures = 0; !stop.signal.aborted; failures += 1) {
      try {
        await listening.prepare();
        await listen(listening, stop.signal, () => {
          failures = 0;
        });
      } catch {
        // Whoever uses the store hears of the trouble by a call of their own; here it is tried until it works.
      }
      await pause(Math.min(longestPauseMs, 50 * 2 ** failures), stop.signal);
    }
  }

  return {
    start() {
      going ??= go();
    },
    async close() {
      stop.abort();
      await going;
    },
  };
}

/** Resolves or rejects when the connection has ended. */
async function listen(listening: Listening, signal: AbortSignal, isUp: () => void): Promise<void> {
  const ended = Promise.withResolvers<undefined>();
  const end = () => ended.resolve(undefined);
  signal.addEventListener("abort", end, { once: true });
  const connecting = listening.pool.connect();
  const client = await Promise.race([connecting, ended.promise]);
  if (!client) return void connecting.then((late) => late.release(true), end); // closed while it waited its turn
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ payload = "" }) => hear(listening, payload));
  const beat = keepAlive(client, end);
  try {
    await Promise.race([catchUp(listening, client).then(isUp), ended.promise]);
    await ended.promise;
  } finally {
    clearInterval(beat);
    signal.removeEventListener("abort", end);
    client.release(true);
  }
}

/** What was said before anybody listened was missed, so each watcher is told to look. */
async function catchUp({ schema, watchers }: Listening, client: PostgresClient): Promise<void> {
  watchers.missed();
  await client.query(`LISTEN ${schema}`);
  const watched = [...watchers.sessions()].map(storedText);
  const { rows } = await client.query(
    `SELECT sessions.id AS session, NULL AS run FROM ${schema}.sessions WHERE id = ANY ($1)
      UNION SELECT session_id, runs.id FROM ${schema}.runs JOIN ${schema}.told ON run_id = runs.id
      WHERE session_id = ANY ($1) AND NOT heard ORDER BY run NULLS FIRST`,
    [watched],
  );
  for (const { session, run } of rows)
    watchers.tell(
      originalText(session),
      run === null ? { type: "facts" } : { type: "message", runId: originalText(run) },
    );
}

/** A connection can be cut without a word: then a question on it is never answered. */
function keepAlive(client: PostgresClient, isDead: () => void): ReturnType<typeof setInterval> {
  let isAnswered = true;
  const beat = setInterval(() => {
    if (!isAnswered) return isDead();
    isAnswered = false;
    client.query("SELECT 1").then(() => {
      isAnswered = true;
    }, isDead);
  }, beatMs);
  if (typeof beat === "object" && "unref" in beat) beat.unref();
  return beat;
}

function hear({ origin, watchers }: Listening, payload: string): void {
  const [type, from, sessionId, detail, ...pieces] = parsed(payload);
  if (from === origin || typeof sessionId !== "string") return;
  const news = newsOf(type, detail, pieces as PositionedDelta[]);
  if (news) watchers.relay(sessionId, news);
}

function newsOf(type: unknown, detail: unknown, pieces: readonly PositionedDelta[]): StoreNotice | undefined {
  if (type === "facts") return { type };
  if (type === "told" && typeof detail === "string") return { type: "message", runId: detail };
  return type === "live" ? { type: "deltas", deltas: pieces } : undefined;
}

function parsed(payload: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(payload);
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // somebody else speaks on the channel too
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
  if (typeof timer === "object" && "unref" in timer) timer.unref();
  const wake = () => {
    clearTimeout(timer);
    resolve();
  };
  signal.addEventListener("abort", wake, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", wake));
}

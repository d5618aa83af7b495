import type { PositionedDelta, StoreNotice } from "../../store.ts";
import type { Watchers } from "../watchers.ts";
import type { PostgresClient, PostgresPool } from "./pool.ts";
import { decodeText, encodeText } from "./stored-text.ts";

type ListenerOptions = {
  readonly pool: PostgresPool;
  readonly schema: string;
  /** Sender id of this store; its own notices are ignored, because its watchers have them already. */
  readonly origin: string;
  readonly watchers: Watchers;
  /** Resolves when the schema exists. */
  prepare(): Promise<unknown>;
};

const maxPauseMs = 5_000;
const keepAliveMs = 15_000;

/** Listens for notices of other processes on one connection, opened on first use and reopened when it fails. */
export function openListener(options: ListenerOptions): { start(): void; close(): Promise<void> } {
  const stop = new AbortController();
  let loop: Promise<void> | undefined;

  async function listenForever(): Promise<void> {
    for (let failures = 0; !stop.signal.aborted; failures += 1) {
      try {
        await options.prepare();
        await listenOnce(options, stop.signal, () => {
          failures = 0;
        });
      } catch {
        // Retried until it works; callers of the store see the error in their own calls.
      }
      await waitFor(Math.min(maxPauseMs, 50 * 2 ** failures), stop.signal);
    }
  }

  return {
    start() {
      loop ??= listenForever();
    },
    async close() {
      stop.abort();
      await loop;
    },
  };
}

/** Resolves or rejects when the connection ends. */
async function listenOnce(
  options: ListenerOptions,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<void> {
  const ended = Promise.withResolvers<undefined>();
  const end = () => ended.resolve(undefined);
  signal.addEventListener("abort", end, { once: true });
  const connecting = options.pool.connect();
  const client = await Promise.race([connecting, ended.promise]);
  if (!client) return void connecting.then((late) => late.release(true), end); // closed while waiting for a connection
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ payload = "" }) => handlePayload(options, payload));
  const interval = keepAlive(client, end);
  try {
    await Promise.race([notifyMissed(options, client).then(onConnected), ended.promise]);
    await ended.promise;
  } finally {
    clearInterval(interval);
    signal.removeEventListener("abort", end);
    client.release(true);
  }
}

/** Notifies all watchers, because notices sent before LISTEN were missed. */
async function notifyMissed({ schema, watchers }: ListenerOptions, client: PostgresClient): Promise<void> {
  watchers.resetRemote();
  await client.query(`LISTEN ${schema}`);
  const watched = [...watchers.listSessions()].map(encodeText);
  const { rows } = await client.query(
    `SELECT sessions.id AS session, NULL AS run FROM ${schema}.sessions WHERE id = ANY ($1)
      UNION SELECT session_id, runs.id FROM ${schema}.runs JOIN ${schema}.told ON run_id = runs.id
      WHERE session_id = ANY ($1) AND NOT heard ORDER BY run NULLS FIRST`,
    [watched],
  );
  for (const { session, run } of rows)
    watchers.notify(
      decodeText(session),
      run === null ? { type: "facts" } : { type: "message", runId: decodeText(run) },
    );
}

/** Detects a connection that was cut silently: a query on it is never answered. */
function keepAlive(client: PostgresClient, onDead: () => void): ReturnType<typeof setInterval> {
  let isAnswered = true;
  const interval = setInterval(() => {
    if (!isAnswered) return onDead();
    isAnswered = false;
    client.query("SELECT 1").then(() => {
      isAnswered = true;
    }, onDead);
  }, keepAliveMs);
  if (typeof interval === "object" && "unref" in interval) interval.unref();
  return interval;
}

function handlePayload({ origin, watchers }: ListenerOptions, payload: string): void {
  const [type, from, sessionId, detail, ...deltas] = parsePayload(payload);
  if (from === origin || typeof sessionId !== "string") return;
  const notice = toNotice(type, detail, deltas as PositionedDelta[]);
  if (notice) watchers.notifyRemote(sessionId, notice);
}

function toNotice(
  type: unknown,
  detail: unknown,
  deltas: readonly PositionedDelta[],
): StoreNotice | undefined {
  if (type === "facts") return { type };
  if (type === "told" && typeof detail === "string") return { type: "message", runId: detail };
  return type === "live" ? { type: "deltas", deltas: deltas } : undefined;
}

function parsePayload(payload: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(payload);
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // another program uses the channel
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
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

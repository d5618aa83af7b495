import type { PostgresClient, PostgresPool } from "./pool.ts";

type ListenerOptions = {
  readonly pool: PostgresPool;
  /** Resolves when the database can be used. */
  prepare(): Promise<unknown>;
  /** Called with each new connection. The listener is connected once this resolves. */
  onOpen(client: PostgresClient): Promise<void>;
  onClose(): void;
  onNotification(channel: string, payload: string): void;
};

const maxPauseMs = 5_000;
const keepAliveMs = 15_000;

/** Keeps one connection open for notifications, from `start` on, and reopens it when it fails. */
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
  { pool, onOpen, onClose, onNotification }: ListenerOptions,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<void> {
  if (signal.aborted) return; // closed while the database was being prepared
  const ended = Promise.withResolvers<undefined>();
  const end = () => ended.resolve(undefined);
  signal.addEventListener("abort", end, { once: true });
  const connecting = pool.connect();
  const client = await Promise.race([connecting, ended.promise]);
  if (!client) return void connecting.then((late) => late.release(true), end); // closed while waiting for a connection
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ channel, payload = "" }) => onNotification(channel, payload));
  const interval = keepAlive(client, end);
  try {
    await Promise.race([onOpen(client).then(onConnected), ended.promise]);
    await ended.promise;
  } finally {
    onClose();
    clearInterval(interval);
    signal.removeEventListener("abort", end);
    client.release(true);
  }
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

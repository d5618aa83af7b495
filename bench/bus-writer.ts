// Publishes the tokens of many runs in the store of one process. As a program, it does so when it receives "start".
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import type { DeltaBus, Store } from "capstan";
import { inProcessBus, natsBus, redisBus } from "capstan/buses";
import { postgres } from "capstan/stores/postgres";
import pg from "pg";
import { createClient } from "redis";

export const busNames = ["in-process", "postgres", "redis", "nats"] as const;
export type BusName = (typeof busNames)[number];

export type BusOrder = {
  readonly bus: BusName;
  readonly runs: number;
  readonly tokensPerSecond: number;
  readonly seconds: number;
  readonly postgresUrl: string;
  readonly schema: string;
  /** The port of the Redis or NATS server. */
  readonly port: number;
};

export type BusWriterMessage =
  | { readonly type: "ready" }
  | { readonly type: "written"; readonly cpuMs: number; readonly messages: number };

export type BusStore = {
  readonly store: Store;
  /** Messages on the bus so far; unknown for the bus of Postgres, which the store opens itself. */
  countMessages(): number;
  close(): Promise<void>;
};

/** Both stores of the process "in-process" share this one. */
const sharedBus = inProcessBus();

export async function openBusStore(order: BusOrder): Promise<BusStore> {
  const pool = new pg.Pool({ connectionString: order.postgresUrl });
  pool.on("error", () => undefined); // the server may be stopped first
  const { bus, close: closeBus } = await openBus(order);
  let messages = 0;
  const countedBus = bus && {
    subscribe: bus.subscribe,
    publish: (batch: Parameters<DeltaBus["publish"]>[0]) => {
      messages += batch.length;
      return bus.publish(batch);
    },
  };
  const store = postgres(pool, { schema: order.schema, ...(countedBus && { bus: countedBus }) });
  return {
    store,
    countMessages: () => messages,
    async close() {
      await store.close();
      await closeBus();
      await pool.end();
    },
  };
}

async function openBus({ bus, port }: BusOrder): Promise<{ bus?: DeltaBus; close(): Promise<unknown> }> {
  if (bus === "in-process") return { bus: sharedBus, close: async () => undefined };
  if (bus === "nats") {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    return { bus: natsBus(connection), close: () => connection.close() };
  }
  if (bus === "postgres") return { close: async () => undefined };
  const open = async () =>
    createClient({ url: `redis://127.0.0.1:${port}` })
      .on("error", () => undefined) // the server may be stopped first
      .connect();
  const [publisher, subscriber] = await Promise.all([open(), open()]);
  const close = () => Promise.all([publisher.close(), subscriber.close()]);
  return { bus: redisBus({ publisher, subscriber }), close };
}

export const nameSession = (index: number): string => `run-${index}`;
/** Milliseconds since 1970, with fractions, so that processes can compare them. */
export const readTime = (): number => performance.timeOrigin + performance.now();

/** Stores a first fact in every session, so that there is a run to follow. */
export async function startSessions(store: Store, { runs }: BusOrder): Promise<void> {
  for (let index = 0; index < runs; index++) {
    const sessionId = nameSession(index);
    store.watch(sessionId, () => undefined); // as a run does, for messages and for readers that join
    const lease = await store.lease(sessionId, "writer", 600_000);
    if (!lease) throw new Error(`Session ${sessionId} is in use.`);
    const origin = { runId: sessionId, sessionId, agent: "bench", turn: 1, at: 0, id: "start" };
    await store.append([{ ...origin, type: "warning", code: "start", message: "" }], { expected: 0, lease });
  }
}

/** Publishes a token of every run at its time. A token is the time at which it is published. */
export async function writeTokens(store: Store, order: BusOrder): Promise<void> {
  const { runs, tokensPerSecond, seconds } = order;
  const count = tokensPerSecond * seconds;
  const startedAt = performance.now();
  for (let tick = 0; tick < runs * count; ) {
    // The runs take turns, so that the tokens are spread over time.
    const due = Math.min(runs * count, ((performance.now() - startedAt) / 1_000) * runs * tokensPerSecond);
    for (; tick < due; tick++) {
      const sessionId = nameSession(tick % runs);
      const delta = { type: "content_delta", delta: `${readTime()} ` } as const;
      const origin = { runId: sessionId, sessionId, agent: "bench", turn: 1 };
      store.publish(sessionId, [{ after: 1, delta: { ...delta, ...origin } }]);
    }
    await pause(2);
  }
}

if (process.argv[1] === import.meta.filename) {
  const order: BusOrder = JSON.parse(process.argv[2] ?? "{}");
  const { store, countMessages, close } = await openBusStore(order);
  await startSessions(store, order);
  const report = (message: BusWriterMessage) => void process.send?.(message);
  process.on("disconnect", () => process.exit(1)); // the benchmark was interrupted
  process.once("message", async () => {
    const [cpu, messages] = [process.cpuUsage(), countMessages()];
    await writeTokens(store, order);
    const { user, system } = process.cpuUsage(cpu);
    await pause(1_000); // the last messages
    report({ type: "written", cpuMs: (user + system) / 1_000, messages: countMessages() - messages });
    await close();
    process.exit(0);
  });
  report({ type: "ready" });
}

import { connect } from "@nats-io/transport-node";
import type { DeltaBus, Store } from "capstan";
import { inProcessBus, natsBus, redisBus } from "capstan/buses";
import type { StoreNotice } from "capstan/internal/verification";
import { postgres } from "capstan/stores/postgres";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import { type BusServer, hasProgram, startNats, startRedis } from "./start-servers.ts";

type Opened = { readonly buses: readonly DeltaBus[]; readonly server?: BusServer; close(): Promise<void> };

async function openRedis(): Promise<Opened> {
  const server = await startRedis();
  const clients = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
      client.on("error", () => undefined);
      return client.connect();
    }),
  );
  const [one, two, three, four] = clients as [
    (typeof clients)[0],
    (typeof clients)[0],
    (typeof clients)[0],
    (typeof clients)[0],
  ];
  return {
    server,
    buses: [redisBus({ publisher: one, subscriber: two }), redisBus({ publisher: three, subscriber: four })],
    async close() {
      for (const client of clients) client.destroy();
      await server.stop();
    },
  };
}

async function openNats(): Promise<Opened> {
  const server = await startNats();
  const open = () =>
    connect({ servers: `127.0.0.1:${server.port}`, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
  const connections = await Promise.all([open(), open()]);
  return {
    server,
    buses: connections.map((connection) => natsBus(connection)),
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
      await server.stop();
    },
  };
}

async function openInProcess(): Promise<Opened> {
  const bus = inProcessBus();
  return { buses: [bus, bus], close: async () => undefined };
}

const kinds = [
  { name: "in process", isThere: true, open: openInProcess },
  { name: "Redis", isThere: hasProgram("redis-server"), open: openRedis },
  { name: "NATS", isThere: hasProgram("nats-server"), open: openNats },
];

let postgresServer: PostgresServer | undefined;
beforeAll(async () => {
  if (findPostgresFolder()) postgresServer = await startPostgres();
});
afterAll(() => postgresServer?.stop());

describe.each(kinds.filter(({ isThere }) => isThere))("a bus $name", ({ name, open }) => {
  let opened: Opened;
  const stores: Store[] = [];
  beforeAll(async () => {
    opened = await open();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  afterAll(() => opened?.close());

  const topics = ["session a", "session ann~ä b.*>\u0000\n", "session "];

  it("carries the messages of a topic in order, to its subscribers only, until they leave", async () => {
    const [writer, reader] = opened.buses as [DeltaBus, DeltaBus];
    const heard: string[] = [];
    const subscriptions = topics.map((topic) =>
      reader.subscribe(topic, (text) => void heard.push(`${topic}: ${text}`)),
    );
    await Promise.all(subscriptions.map(({ ready }) => ready));
    const sent = Array.from({ length: 300 }, (_, index) => ({
      topic: topics[index % 3] ?? "",
      text: `${index} ${"ä".repeat(3_900)}`,
    }));
    await writer.publish([{ topic: "session other", text: "?" }, ...sent]);
    await vi.waitFor(() => expect(heard).toHaveLength(sent.length), 30_000);
    for (const topic of topics)
      expect(heard.filter((text) => text.startsWith(`${topic}: `))).toEqual(
        sent.filter((message) => message.topic === topic).map(({ text }) => `${topic}: ${text}`),
      );
    heard.length = 0;
    subscriptions[0]?.close();
    const last = reader.subscribe("session last", (text) => void heard.push(text));
    await last.ready;
    await writer.publish([
      { topic: "session a", text: "unheard" },
      { topic: "session last", text: "last" },
    ]);
    await vi.waitFor(() => expect(heard).toEqual(["last"]), 30_000);
    for (const subscription of [...subscriptions.slice(1), last]) subscription.close();
  });

  describe.skipIf(!findPostgresFolder())("of two stores on Postgres", () => {
    function openStores(): [Store, Store] {
      const schema = name.replaceAll(/\W/g, "_").toLowerCase();
      const made = opened.buses.map((bus) => {
        if (!postgresServer) throw new Error("no server");
        return postgres(postgresServer.pool(), { schema, bus });
      });
      stores.push(...made);
      return made as [Store, Store];
    }

    async function startRun(store: Store, sessionId: string) {
      const lease = await store.lease(sessionId, "owner", 60_000);
      if (!lease) throw new Error("no lease");
      const origin = { runId: `r ${sessionId}`, sessionId, agent: "a", turn: 0, at: 0 };
      const warn = (code: string, expected: number) =>
        store.append([{ ...origin, id: code, type: "warning", code, message: "" }], { expected, lease });
      await warn("start", 0);
      return { warn };
    }

    it("carries deltas and facts to the process that watches the session, also from the middle of a message (F81)", async () => {
      const [writer, reader] = openStores();
      writer.watch("s", () => undefined); // as a run does
      const { warn } = await startRun(writer, "s");
      const piece = (delta: string, after = 1) => ({
        after,
        delta: { type: "content_delta" as const, delta, runId: "r s", sessionId: "s", agent: "a", turn: 1 },
      });
      writer.publish("s", [piece("Hel")]);
      const heard: StoreNotice[] = [];
      reader.watch("s", (notice) => heard.push(notice));
      const texts = () =>
        heard.flatMap((notice) => (notice.type === "deltas" ? notice.deltas.map(({ delta }) => delta) : []));
      await vi.waitFor(() => expect(texts()).toEqual([piece("Hel").delta]), 30_000);
      writer.publish("s", [piece("lo")]);
      await vi.waitFor(() => expect(texts()).toEqual([piece("Hel").delta, piece("lo").delta]), 30_000);
      heard.length = 0;
      await warn("next", 1);
      writer.publish("s", [piece("!", 2)]);
      await vi.waitFor(
        () => expect(heard).toEqual([{ type: "facts" }, { type: "deltas", deltas: [piece("!", 2)] }]),
        30_000,
      );
    });

    it("tells engines of both that there is work", async () => {
      const [writer, reader] = openStores();
      const onWork = vi.fn();
      reader.watchWork?.(onWork);
      await vi.waitFor(async () => {
        const sessionId = crypto.randomUUID();
        const lease = await writer.lease(sessionId, "owner", 60_000);
        if (!lease) throw new Error("no lease");
        const origin = { runId: `r ${sessionId}`, sessionId, agent: "a", turn: 0, at: 0 };
        const fact = { ...origin, id: "x", type: "warning" as const, code: "x", message: "" };
        await writer.append([fact], { expected: 0, lease });
        await writer.release(lease);
        expect(onWork).toHaveBeenCalled();
      }, 30_000);
    });

    it.skipIf(name === "in process")(
      "loses no fact while its server is gone: readers poll (F72, F81)",
      async () => {
        const [writer, reader] = openStores();
        const { warn } = await startRun(writer, "down");
        const heard: StoreNotice[] = [];
        reader.watch("down", (notice) => heard.push(notice));
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        await opened.server?.stop();
        heard.length = 0;
        await warn("while down", 1);
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        expect(await reader.read("down")).toHaveLength(2);
        await opened.server?.restart();
      },
    );
  });
});

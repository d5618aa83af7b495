import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FactBody, UnplacedFact } from "../event.ts";
import { factId } from "../fact-id.ts";
import type { Json } from "../json.ts";
import { defaultPolicy } from "../policy.ts";
import type { Lease, News, Piece, Store, Told } from "../store.ts";

/** What a suite may be told of a store. */
export type StoreSuiteOptions = {
  /** Another instance on the data of the first one, as a second process would have; for stores that are shared. */
  readonly second?: (first: Store) => Store | Promise<Store>;
  /** Cleans up after each test, when the store is closed. */
  readonly close?: (store: Store) => unknown;
};

/** What every store must do. A test of a store is one line: `storeSuite("acme", () => acme(…))`. */
export function storeSuite(
  name: string,
  make: () => Store | Promise<Store>,
  { second, close }: StoreSuiteOptions = {},
): void {
  describe(`the store ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await make();
    });
    afterEach(async () => {
      await store.close();
      await close?.(store);
    });

    describe("appends", () => {
      it("gives facts their place, counted from 1 per session", async () => {
        const lease = await held(store, "s1");
        const first = await store.append([start("s1", "r1"), warning("s1", "r1", "a")], {
          expected: 0,
          lease,
        });
        const other = await store.append([start("s2", "r2")], {
          expected: 0,
          lease: await held(store, "s2"),
        });
        expect(first.map((fact) => fact.seq)).toEqual([1, 2]);
        expect(other.map((fact) => fact.seq)).toEqual([1]);
      });

      it("stores a fact once, however often it is appended, and gives back the first", async () => {
        const lease = await held(store, "s1");
        const [first] = await store.append([warning("s1", "r1", "a", 1)], { expected: 0, lease });
        const again = await store.append([warning("s1", "r1", "a", 2), warning("s1", "r1", "b", 2)], {
          expected: 1,
          lease,
        });
        expect(again[0]).toEqual(first);
        expect(await store.read("s1")).toEqual([first, again[1]]);
      });

      it("tells the start and the result of a call apart, and each begin after a crash", async () => {
        const lease = await held(store, "s1");
        const begin = (attempt: number): FactBody => ({
          type: "tool_call_start",
          id: "c",
          name: "t",
          arguments: {},
          attempt,
        });
        const end: FactBody = {
          type: "tool_call_result",
          id: "c",
          name: "t",
          result: "",
          is_error: false,
          status: "ok",
          attempts: 1,
          ms: 0,
        };
        const facts = [begin(1), begin(2), end, end].map((body) => fact("s1", "r1", body));
        await store.append(facts, { expected: 0, lease });
        expect((await store.read("s1")).map((stored) => stored.type)).toEqual([
          "tool_call_start",
          "tool_call_start",
          "tool_call_result",
        ]);
      });

      it("refuses what was written against an older position, and stores nothing of it", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1")], { expected: 0, lease });
        const late = store.append([warning("s1", "r1", "a"), warning("s1", "r1", "b")], {
          expected: 0,
          lease,
        });
        await expect(late).rejects.toMatchObject({ code: "position_conflict" });
        expect(await store.read("s1")).toHaveLength(1);
      });

      it("keeps data as it is: unicode, prototype names, nesting, numbers, empty values", async () => {
        const lease = await held(store, "s1");
        const input = JSON.parse(
          '{"__proto__":{"x":1},"constructor":"c","n":[1.5,-0.1,1e21,null,true,"",{}],"u":"\\u0000 \\ud83d\\ude80 ß"}',
        );
        const body: FactBody = {
          type: "tool_call_start",
          id: "toString",
          name: "hasOwnProperty",
          arguments: input,
          attempt: 1,
        };
        await store.append([fact("s1", "r1", body)], { expected: 0, lease });
        const [stored] = await store.read("s1");
        expect(JSON.stringify(stored)).toContain(JSON.stringify(input));
        expect(stored).toMatchObject({ id: "toString", name: "hasOwnProperty" });
      });

      it("keeps large text, NUL characters and halves of characters, also in ids", async () => {
        const odd = ["\u0000", "a\u0000b", "\ud800", "\udfff", "\ufffd", '"', "'", "%_", ""];
        for (const [index, text] of odd.entries()) {
          const [sessionId, runId] = [`s ${text}`, `r ${text}`];
          const lease = await held(store, sessionId);
          const long = text + "x".repeat(index === 0 ? 1_000_000 : 10) + text;
          const facts = [
            start(sessionId, runId),
            warning(sessionId, runId, text),
            said(sessionId, runId, long),
          ];
          const placed = await store.append(facts, { expected: 0, lease });
          expect(await store.read(sessionId)).toEqual(placed);
          expect(await store.sessionOf(runId)).toBe(sessionId);
        }
        expect(await store.list()).toHaveLength(odd.length);
      });

      it("tells identities apart that differ in half a character or in case", async () => {
        const lease = await held(store, "s1");
        const codes = ["\ud800", "\ud801", "\ufffd", "a", "A", "a\u0000", "a\u0000b", "a ", "é", "e\u0301"];
        const facts = codes.map((code) => warning("s1", "r1", code));
        expect(await store.append(facts, { expected: 0, lease })).toHaveLength(codes.length);
        expect(await store.read("s1")).toHaveLength(codes.length);
      });

      it("a fact that is appended twice in one go is stored once", async () => {
        const lease = await held(store, "s1");
        const twice = [warning("s1", "r1", "a", 1), warning("s1", "r1", "a", 2)];
        const placed = await store.append(twice, { expected: 0, lease });
        expect(placed.map((stored) => [stored.seq, stored.at])).toEqual([
          [1, 1],
          [1, 1],
        ]);
        expect(await store.read("s1")).toHaveLength(1);
      });

      it("a repeated append is answered, wherever the log is by then", async () => {
        const lease = await held(store, "s1");
        const first = await store.append([start("s1", "r1")], { expected: 0, lease });
        await store.append([warning("s1", "r1", "a")], { expected: 1, lease });
        expect(await store.append([start("s1", "r1")], { expected: 0, lease })).toEqual(first);
      });

      it("of many that race for one position one wins, and the others store nothing (F74)", async () => {
        const lease = await held(store, "s1");
        const race = Array.from({ length: 20 }, (_, index) =>
          store.append([warning("s1", "r1", `${index}`), warning("s1", "r1", `${index}.1`)], {
            expected: 0,
            lease,
          }),
        );
        const results = await Promise.allSettled(race);
        const lost = results.filter((result) => result.status === "rejected");
        expect(lost).toHaveLength(19);
        for (const { reason } of lost) expect(reason).toMatchObject({ code: "position_conflict" });
        expect(await store.read("s1")).toHaveLength(2);
      });

      it("takes 1,000 appends to 50 sessions at once, each log whole and in order", async () => {
        const sessions = Array.from({ length: 50 }, (_, index) => `s${index}`);
        await Promise.all(
          sessions.map(async (sessionId) => {
            const lease = await held(store, sessionId);
            for (let expected = 0; expected < 20; expected++)
              await store.append([warning(sessionId, `r-${sessionId}`, `${expected}`)], { expected, lease });
          }),
        );
        const whole = Array.from({ length: 20 }, (_, index) => [index + 1, `${index}`]);
        for (const sessionId of sessions) {
          const log = await store.read(sessionId);
          expect(log.map((stored) => [stored.seq, stored.type === "warning" && stored.code])).toEqual(whole);
        }
      }, 30_000);
    });

    describe("reads", () => {
      it("gives the facts behind a position, in order", async () => {
        const lease = await held(store, "s1");
        await store.append(
          ["a", "b", "c"].map((code) => warning("s1", "r1", code)),
          { expected: 0, lease },
        );
        expect((await store.read("s1", 1)).map((stored) => stored.seq)).toEqual([2, 3]);
        expect(await store.read("s1", 3)).toEqual([]);
      });

      it("knows nothing of a session or a run that does not exist", async () => {
        expect(await store.read("nobody")).toEqual([]);
        expect(await store.sessionOf("nobody")).toBeUndefined();
        expect(await store.read("__proto__")).toEqual([]);
      });

      it("finds the session of a run", async () => {
        await store.append([start("s1", "r1")], { expected: 0, lease: await held(store, "s1") });
        expect(await store.sessionOf("r1")).toBe("s1");
      });

      it("gives facts that a later append does not change", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1")], { expected: 0, lease });
        const before = await store.read("s1");
        await store.append([warning("s1", "r1", "a")], { expected: 1, lease });
        expect(before).toHaveLength(1);
      });
    });

    describe("lists and removes", () => {
      it("lists sessions, the newest first", async () => {
        await store.append([start("old", "r1", 1000)], { expected: 0, lease: await held(store, "old") });
        await store.append([start("new", "r2", 2000), warning("new", "r2", "a", 3000)], {
          expected: 0,
          lease: await held(store, "new"),
        });
        expect(await store.list()).toEqual([
          { id: "new", facts: 2, createdAt: 2000, updatedAt: 3000 },
          { id: "old", facts: 1, createdAt: 1000, updatedAt: 1000 },
        ]);
      });

      it("gives a session a title, and takes it away", async () => {
        await store.append([start("s1", "r1", 5)], { expected: 0, lease: await held(store, "s1") });
        const info = { id: "s1", facts: 1, createdAt: 5, updatedAt: 5 };
        await store.rename("s1", "A trip to \u0000 Köln \ud83d\ude80");
        expect(await store.list()).toEqual([{ ...info, title: "A trip to \u0000 Köln \ud83d\ude80" }]);
        await store.append([warning("s1", "r1", "a", 6)], { expected: 1, lease: await held(store, "s1") });
        expect(await store.list()).toMatchObject([{ title: "A trip to \u0000 Köln \ud83d\ude80", facts: 2 }]);
        await store.rename("s1", "");
        expect(await store.list()).toEqual([{ ...info, facts: 2, updatedAt: 6 }]);
        await store.rename("nobody", "x");
        expect(await store.list()).toHaveLength(1);
      });

      it("removes everything of a session, and nothing of another", async () => {
        const lease = await held(store, "s1");
        for (const id of ["s1", "s2"]) {
          await store.append([start(id, `r-${id}`), said(id, `r-${id}`, "apricot")], {
            expected: 0,
            lease: await held(store, id),
          });
          await store.putBlob(id, { mediaType: "text/plain", data: id });
          await store.rename(id, id);
          await store.tell(`r-${id}`, { key: "k", type: "steer", text: "x" });
        }
        const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
        await store.remove("s1");
        expect(await store.read("s1")).toEqual([]);
        expect(await store.runs("s1")).toEqual([]);
        expect(await store.sessionOf("r-s1")).toBeUndefined();
        expect(await store.getBlob("s1", handle)).toBeUndefined();
        expect(await store.told("r-s1")).toEqual([]);
        await expect(store.tell("r-s1", steer("k"))).rejects.toMatchObject({ code: "unknown_run" });
        expect((await store.list()).map(({ id }) => id)).toEqual(["s2"]);
        expect((await store.search("apricot")).map(({ sessionId }) => sessionId)).toEqual(["s2"]);
        expect(await store.told("r-s2")).toHaveLength(1);
        // Whoever was writing to it does not bring a half of it back.
        await expect(store.append([warning("s1", "r-s1", "a")], { expected: 2, lease })).rejects.toThrow();
        await store.remove("s1");
        await store.remove("nobody");
      });

      it("a removed session can be begun anew under its id", async () => {
        await store.append([start("s1", "r1"), said("s1", "r1", "old")], {
          expected: 0,
          lease: await held(store, "s1"),
        });
        await store.tell("r1", steer("k"));
        await store.remove("s1");
        await store.append([start("s1", "r1", 7)], { expected: 0, lease: await held(store, "s1") });
        expect(await store.list()).toEqual([{ id: "s1", facts: 1, createdAt: 7, updatedAt: 7 }]);
        expect(await store.told("r1")).toEqual([]);
        await store.tell("r1", steer("k"));
        expect(await store.told("r1")).toHaveLength(1);
        expect(await store.search("old")).toEqual([]);
      });
    });

    describe("runs", () => {
      it("are listed in the order they were started, with what they are at", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r2", 1), done("s1", "r2", 2)], { expected: 0, lease });
        await store.append([start("s1", "r1", 3), waiting("s1", "r1", "0", 4)], { expected: 2, lease });
        await store.append([start("s1", "r0", 5), warning("s1", "r0", "a", 6)], { expected: 4, lease });
        const run = { sessionId: "s1", agent: "a" };
        expect(await store.runs("s1")).toEqual([
          { ...run, runId: "r2", state: "ended", startedAt: 1, updatedAt: 2 },
          { ...run, runId: "r1", state: "waiting", startedAt: 3, updatedAt: 4 },
          { ...run, runId: "r0", state: "active", startedAt: 5, updatedAt: 6 },
        ]);
        expect(await store.runs("nobody")).toEqual([]);
      });

      it("are orphans when they have work and nobody holds the session (F73)", async () => {
        for (const [sessionId, rest] of Object.entries({
          active: [],
          waiting: [waiting("waiting", "waiting")],
          told: [waiting("told", "told")],
          ended: [done("ended", "ended")],
          leased: [],
          lapsed: [],
        })) {
          const lease = await held(store, sessionId);
          await store.append([start(sessionId, sessionId), ...rest], { expected: 0, lease });
          if (sessionId === "lapsed") await store.renew(lease, 1);
          else if (sessionId !== "leased") await store.release(lease);
        }
        await store.tell("told", steer("k"));
        await store.tell("leased", steer("k"));
        await pause(10);
        const orphans = await store.orphans();
        expect(orphans.map(({ runId }) => runId).sort()).toEqual(["active", "lapsed", "told"]);
        expect(orphans.find(({ runId }) => runId === "told")).toMatchObject({
          sessionId: "told",
          state: "waiting",
        });
      });

      it("stop being orphans when somebody takes them, hears what they were told, or ends them", async () => {
        const first = await held(store, "s1");
        await store.append([start("s1", "r1"), waiting("s1", "r1")], { expected: 0, lease: first });
        await store.release(first);
        await store.tell("r1", steer("k"));
        expect(await store.orphans()).toHaveLength(1);
        const lease = await held(store, "s1", "bob");
        expect(await store.orphans()).toEqual([]);
        await store.append([waiting("s1", "r1", "1")], { expected: 2, lease, heard: ["k"] });
        await store.release(lease);
        expect(await store.orphans()).toEqual([]);
        const last = await held(store, "s1", "cid");
        await store.append([warning("s1", "r1", "a")], { expected: 3, lease: last });
        await store.release(last);
        expect(await store.orphans()).toHaveLength(1);
      });
    });

    describe("what a run is told", () => {
      const all: readonly Told[] = [
        { key: "1", type: "steer", text: "\u0000 left, \ud83d\ude80" },
        { key: "2", type: "approve", callId: "c1", value: { a: [1, null] } },
        { key: "0", type: "deny", callId: "c2", reason: "no" },
        { key: "\ud800", type: "result", callId: "c3", value: "x".repeat(1_000_000) },
        { key: "__proto__", type: "cancel" },
      ];

      it("comes in order, until it is heard", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1"), start("s1", "r2")], { expected: 0, lease });
        for (const message of all) await store.tell("r1", message);
        await store.tell("r2", steer("1"));
        expect(await store.told("r1")).toEqual(all);
        await store.append([warning("s1", "r1", "a")], { expected: 2, lease, heard: ["2", "\ud800"] });
        expect(await store.told("r1")).toEqual([all[0], all[2], all[4]]);
        expect(await store.told("r2")).toEqual([steer("1")]);
        expect(await store.told("nobody")).toEqual([]);
      });

      it("counts once per key, also after it was heard and after the end (F84)", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1")], { expected: 0, lease });
        await Promise.all([store.tell("r1", steer("k")), store.tell("r1", steer("k"))]);
        await store.tell("r1", { key: "k", type: "cancel" });
        expect(await store.told("r1")).toEqual([steer("k")]);
        await store.append([warning("s1", "r1", "a")], { expected: 1, lease, heard: ["k"] });
        await store.tell("r1", steer("k"));
        expect(await store.told("r1")).toEqual([]);
        await store.append([done("s1", "r1")], { expected: 2, lease });
        await store.tell("r1", steer("k"));
        expect(await store.told("r1")).toEqual([]);
      });

      it("a key that was heard some other way counts as told", async () => {
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1")], { expected: 0, lease, heard: ["k"] });
        await store.tell("r1", steer("k"));
        expect(await store.told("r1")).toEqual([]);
      });

      it("is refused for a run that is not there, and for one that has ended", async () => {
        await expect(store.tell("r1", steer("k"))).rejects.toMatchObject({ code: "unknown_run" });
        const lease = await held(store, "s1");
        await store.append([start("s1", "r1"), done("s1", "r1")], { expected: 0, lease });
        await expect(store.tell("r1", steer("k"))).rejects.toMatchObject({ code: "run_ended" });
        expect(await store.told("r1")).toEqual([]);
      });

      it("is heard together with the facts: a refused append leaves it unheard (F70)", async () => {
        const stale = await held(store, "s1", "ann");
        await store.append([start("s1", "r1")], { expected: 0, lease: stale });
        await store.tell("r1", steer("k"));
        const conflict = store.append([warning("s1", "r1", "a")], {
          expected: 0,
          lease: stale,
          heard: ["k"],
        });
        await expect(conflict).rejects.toMatchObject({ code: "position_conflict" });
        expect(await store.told("r1")).toEqual([steer("k")]);
        await store.release(stale);
        await held(store, "s1", "bob");
        const lost = store.append([warning("s1", "r1", "a")], { expected: 1, lease: stale, heard: ["k"] });
        await expect(lost).rejects.toMatchObject({ code: "lease_lost" });
        expect(await store.told("r1")).toEqual([steer("k")]);
      });
    });

    describe("searches", () => {
      beforeEach(async () => {
        const lines: Record<string, readonly string[]> = {
          pets: ["The quick brown fox", "the lazy dog sleeps", "A quick dog, and AND NEAR or not"],
          food: ["Ein Döner, brown bread", "naïve quick brown bread: 42 pieces", "Привет, мир"],
        };
        for (const [sessionId, texts] of Object.entries(lines))
          await store.append(
            [start(sessionId, sessionId), ...texts.map((text) => said(sessionId, sessionId, text))],
            { expected: 0, lease: await held(store, sessionId) },
          );
      });
      const places = async (words: string, most?: number) =>
        (await store.search(words, most)).map(({ sessionId, seq }) => `${sessionId} ${seq}`).sort();

      it("finds the places where all the words are, in every session, whatever their case and order", async () => {
        expect(await places("quick")).toEqual(["food 3", "pets 2", "pets 4"]);
        expect(await places("BROWN quick")).toEqual(["food 3", "pets 2"]);
        expect(await places("quick lazy")).toEqual([]);
        expect(await places("döner")).toEqual(["food 2"]);
        expect(await places("мир привет")).toEqual(["food 4"]);
        expect(await places("42")).toEqual(["food 3"]);
        expect(await places("brow")).toEqual([]);
        expect(await places("quick", 2)).toHaveLength(2);
      });

      it("shows some of the words around the place", async () => {
        const [found] = await store.search("lazy");
        expect(found).toEqual({ sessionId: "pets", seq: 3, excerpt: "the lazy dog sleeps" });
      });

      it("finds what was asked, what was steered and what tools gave", async () => {
        const input = [{ type: "user", content: "give me walnuts" }] as const;
        const facts = [
          fact("s3", "r3", { type: "run_start", input, policy: defaultPolicy, timeZone: "UTC" }),
          fact("s3", "r3", { type: "steered", entry: { type: "user", content: "hazelnuts instead" } }),
          result("s3", "r3", "peanuts are sold out"),
        ];
        await store.append(facts, { expected: 0, lease: await held(store, "s3") });
        expect(await places("walnuts")).toEqual(["s3 1"]);
        expect(await places("hazelnuts")).toEqual(["s3 2"]);
        expect(await places("peanuts")).toEqual(["s3 3"]);
      });

      it("takes operators as words, finds nothing for punctuation, and never throws (A95)", async () => {
        for (const nothing of [
          "",
          "  ",
          '"',
          "*",
          "()",
          "-",
          '"" ^ : + {}',
          "'; --",
          "\u0000",
          "\ud800",
          "%",
          "_",
        ])
          expect(await places(nothing)).toEqual([]);
        expect(await places("AND")).toEqual(["pets 4"]);
        expect(await places("near")).toEqual(["pets 4"]);
        for (const query of [
          "NEAR(quick dog)",
          "quick OR dog",
          "NOT quick",
          "text:quick",
          'quick"',
          "quick*",
        ])
          await store.search(query);
        expect(await places("quick* AND (dog)")).toEqual(["pets 4"]);
        expect(await places("text:quick")).toEqual([]);
        await store.search("w ".repeat(5_000));
      });
    });

    describe("watching", () => {
      it("hears of facts, of messages and of live pieces, of its own session only", async () => {
        const heard: News[] = [];
        const leases = { s1: await held(store, "s1"), s2: await held(store, "s2") };
        store.watch("s1", (news) => heard.push(news));
        store.watch("s1", () => {
          throw new Error("a listener that fails harms nobody");
        });
        await store.append([start("s2", "r2")], { expected: 0, lease: leases.s2 });
        store.publish("s2", [piece("s2", "no")]);
        await store.tell("r2", steer("k"));
        expect(heard).toEqual([]);
        await store.append([start("s1", "r1")], { expected: 0, lease: leases.s1 });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 5_000);
        await store.tell("r1", steer("k"));
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "told", runId: "r1" }), 5_000);
        store.publish("s1", [piece("s1", "a"), piece("s1", "b")]);
        const live = () => heard.flatMap((news) => (news.type === "live" ? news.pieces : []));
        await vi.waitFor(() => expect(live()).toEqual([piece("s1", "a"), piece("s1", "b")]), 5_000);
      });

      it("ends when it is taken back, for that listener alone", async () => {
        const lease = await held(store, "s1");
        const [gone, stays] = [vi.fn(), vi.fn()];
        const stop = store.watch("s1", gone);
        store.watch("s1", stays);
        stop();
        stop();
        await store.append([start("s1", "r1")], { expected: 0, lease });
        store.publish("s1", [piece("s1", "a")]);
        await vi.waitFor(() => expect(stays.mock.calls.length).toBeGreaterThan(1), 5_000);
        expect(gone).not.toHaveBeenCalled();
      });
    });

    describe("leases", () => {
      it("are held by one owner at a time, and can be taken after a release", async () => {
        const first = await held(store, "s1", "ann");
        expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
        await store.release(first);
        expect(await store.lease("s1", "bob", 60_000)).toMatchObject({ owner: "bob" });
      });

      it("lapse when they are not renewed; the one who lost it can no longer write (F74)", async () => {
        const stale = await held(store, "s1", "ann", 1);
        await new Promise((resolve) => setTimeout(resolve, 10));
        const fresh = await held(store, "s1", "bob");
        expect(fresh.token).toBeGreaterThan(stale.token);
        expect(await store.renew(stale, 60_000)).toBe(false);
        await expect(store.append([start("s1", "r1")], { expected: 0, lease: stale })).rejects.toMatchObject({
          code: "lease_lost",
        });
        await store.release(stale);
        await store.append([start("s1", "r1")], { expected: 0, lease: fresh });
      });

      it("stay while they are renewed", async () => {
        const lease = await held(store, "s1", "ann", 30);
        expect(await store.renew(lease, 60_000)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 40));
        expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
      });

      it("that lapsed and that nobody took may still be written with, and renewed (F75)", async () => {
        const lease = await held(store, "s1", "ann", 1);
        await pause(10);
        await store.append([start("s1", "r1")], { expected: 0, lease });
        expect(await store.renew(lease, 60_000)).toBe(true);
        expect(await store.lease("s1", "bob", 60_000)).toBeUndefined();
      });

      it("tokens grow with each holder, also after a release and a removal; an old one never writes (F74)", async () => {
        const leases = [await held(store, "s1", "ann")];
        for (const owner of ["bob", "ann", "ann"]) {
          await store.append([warning("s1", "r1", owner)], { expected: 0, lease: leases.at(-1) as Lease });
          await store.release(leases.at(-1) as Lease);
          await store.remove("s1");
          leases.push(await held(store, "s1", owner));
        }
        const tokens = leases.map(({ token }) => token);
        expect(tokens).toEqual([...new Set(tokens)].sort((left, right) => left - right));
        for (const lease of leases.slice(0, -1)) {
          const late = store.append([start("s1", "r1")], { expected: 0, lease });
          await expect(late).rejects.toMatchObject({ code: "lease_lost" });
          expect(await store.renew(lease, 60_000)).toBe(false);
        }
        expect(await store.read("s1")).toEqual([]);
      });

      it("of many who ask at once one gets it", async () => {
        const owners = Array.from({ length: 20 }, (_, index) => store.lease("s1", `owner ${index}`, 60_000));
        expect((await Promise.all(owners)).filter((lease) => lease !== undefined)).toHaveLength(1);
      });

      it("a released one is not written with, and cannot be renewed", async () => {
        const lease = await held(store, "s1");
        await store.release(lease);
        await store.release(lease);
        expect(await store.renew(lease, 60_000)).toBe(false);
        await expect(store.append([start("s1", "r1")], { expected: 0, lease })).rejects.toMatchObject({
          code: "lease_lost",
        });
      });
    });

    describe("blobs", () => {
      it("come back as they were put, text and bytes", async () => {
        const text = await store.putBlob("s1", { mediaType: "text/plain", data: "ä".repeat(100_000) });
        const bytes = await store.putBlob("s1", {
          mediaType: "application/octet-stream",
          data: new Uint8Array([0, 255, 7]),
        });
        expect(await store.getBlob("s1", text)).toEqual({
          mediaType: "text/plain",
          data: "ä".repeat(100_000),
          size: 100_000,
        });
        expect(await store.getBlob("s1", bytes)).toEqual({
          mediaType: "application/octet-stream",
          data: new Uint8Array([0, 255, 7]),
          size: 3,
        });
        expect(text).not.toBe(bytes);
      });

      it("may be large, empty, and any text or bytes", async () => {
        const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 256);
        for (const data of [
          "\u0000a\u0000",
          "\ud800 half",
          "x".repeat(1_000_000),
          "",
          new Uint8Array(),
          bytes,
        ]) {
          const handle = await store.putBlob("s1", { mediaType: "a/b; c=\u0000", data });
          const stored = await store.getBlob("s1", handle);
          expect(stored).toMatchObject({ mediaType: "a/b; c=\u0000", size: data.length });
          // Compared by hand: a difference of a megabyte is slow to print.
          expect(typeof stored?.data).toBe(typeof data);
          expect(Buffer.from(stored?.data ?? "?").equals(Buffer.from(data))).toBe(true);
          if (typeof data === "string") expect(stored?.data === data).toBe(true);
        }
        const handles = Array.from({ length: 20 }, () => store.putBlob("s1", { mediaType: "a/b", data: "" }));
        expect(new Set(await Promise.all(handles)).size).toBe(20);
      });

      it("belong to their session", async () => {
        const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "secret" });
        expect(await store.getBlob("s2", handle)).toBeUndefined();
      });
    });

    describe("records", () => {
      const put = (id: string, body: Json, expected = 0, kind = "note") =>
        store.putRecord({ kind, id, body }, expected);

      it("are counted in versions from 1, and every version stays readable (F78)", async () => {
        const first = await put("a", { text: "one" });
        expect(first).toMatchObject({ kind: "note", id: "a", version: 1, body: { text: "one" } });
        await pause(5);
        const second = await put("a", { text: "two" }, 1);
        expect(second).toMatchObject({ version: 2, body: { text: "two" }, createdAt: first.createdAt });
        expect(second.updatedAt).toBeGreaterThan(first.updatedAt);
        expect(await store.record("note", "a")).toEqual(second);
        expect(await store.recordVersions("note", "a")).toEqual([first, second]);
      });

      it("are not there until they are put, whatever they are called", async () => {
        for (const id of ["a", "", "__proto__", "\u0000"]) {
          expect(await store.record("note", id)).toBeUndefined();
          expect(await store.recordVersions("note", id)).toEqual([]);
        }
        expect(await store.records("constructor")).toEqual([]);
      });

      it("are refused when they are at another version, and stay as they were (F74)", async () => {
        const conflict = { code: "position_conflict" };
        await expect(put("a", 1, 1)).rejects.toMatchObject(conflict);
        const first = await put("a", 1);
        for (const expected of [0, 2, -1, 1.5, Number.NaN]) {
          await expect(put("a", 2, expected)).rejects.toMatchObject(conflict);
          await expect(store.removeRecord("note", "a", expected)).rejects.toMatchObject(conflict);
        }
        await expect(store.removeRecord("note", "b", 1)).rejects.toThrow(
          /"b" of the kind "note" does not exist/,
        );
        expect(await store.recordVersions("note", "a")).toEqual([first]);
      });

      it("of many who write at once with the same version one wins (F74)", async () => {
        for (const expected of [0, 1, 2]) {
          const race = Array.from({ length: 10 }, (_, index) => put("a", [expected, index], expected));
          const outcomes = await Promise.allSettled(race);
          const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
          expect(won.map(({ value }) => value.version)).toEqual([expected + 1]);
          expect(await store.record("note", "a")).toEqual(won[0]?.value);
        }
        expect((await store.recordVersions("note", "a")).map(({ version }) => version)).toEqual([1, 2, 3]);
      });

      it("are listed by id, the newest version of each, and of their kind alone", async () => {
        for (const id of ["b", "B", "a", "ä", "\ud83d\ude80", "\uffff"]) await put(id, id);
        await put("a", "newer", 1);
        await put("a", "other", 0, "key");
        const listed = (await store.records("note")).map(({ id, body }) => [id, body]);
        expect(listed).toEqual([
          ["B", "B"],
          ["a", "newer"],
          ["b", "b"],
          ["ä", "ä"],
          ["\ud83d\ude80", "\ud83d\ude80"],
          ["\uffff", "\uffff"],
        ]);
        expect(await store.records("key")).toMatchObject([
          { kind: "key", id: "a", body: "other", version: 1 },
        ]);
      });

      it("are removed with all their versions, and a number is never given twice (F78)", async () => {
        await put("a", "secret");
        await put("a", "secret", 1);
        await put("b", "stays");
        await store.removeRecord("note", "a", 2);
        expect(await store.record("note", "a")).toBeUndefined();
        expect(await store.recordVersions("note", "a")).toEqual([]);
        expect((await store.records("note")).map(({ id }) => id)).toEqual(["b"]);
        await expect(put("a", "late", 2)).rejects.toMatchObject({ code: "position_conflict" });
        await store.removeRecord("note", "a", 0);
        await pause(5);
        const anew = await put("a", "anew");
        expect(anew).toMatchObject({ version: 4, createdAt: anew.updatedAt });
        expect(await store.recordVersions("note", "a")).toEqual([anew]);
        expect(await store.records("note")).toHaveLength(2);
      });

      it("of one who removes and one who writes at once one wins (F74)", async () => {
        for (let round = 0; round < 5; round++) {
          const { version } = await put(`a${round}`, "x");
          const race = [put(`a${round}`, "y", version), store.removeRecord("note", `a${round}`, version)];
          const outcomes = await Promise.allSettled(round % 2 ? race : race.reverse());
          expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
        }
      });

      it("keep data as it is, and nobody changes it by holding it", async () => {
        const text =
          '{"__proto__":{"x":1},"n":[1.5,1e21,null,true,"",{}],"u":"\\u0000 \\ud800 \\ud83d\\ude80"}';
        const body = JSON.parse(text);
        const odd = ["\u0000", "\ud800", '"', "'; --", "%_", "x".repeat(200), "\u0000".repeat(200)];
        for (const id of odd) {
          const placed = await put(id, body, 0, `k${id.slice(0, 99)}`);
          expect(JSON.stringify(placed.body)).toBe(JSON.stringify(body));
          (placed.body as { n: Json[] }).n.length = 0;
          const [read] = await store.records(`k${id.slice(0, 99)}`);
          expect(read).toMatchObject({ id, kind: `k${id.slice(0, 99)}` });
          expect(JSON.stringify(read?.body)).toBe(JSON.stringify(body));
        }
        for (const scalar of [null, false, 0, "", []]) {
          const id = JSON.stringify(scalar);
          await put(id, scalar);
          expect((await store.record("note", id))?.body).toEqual(scalar);
        }
      });

      it("have a size: what is too large or no JSON is refused by name", async () => {
        const largest = "ä".repeat(499_999);
        await put("large", largest);
        expect((await store.record("note", "large"))?.body === largest).toBe(true);
        const circle: Json[] = [];
        circle.push(circle);
        const refused = { code: "invalid_input", retryable: false };
        for (const body of [`${largest}a`, undefined, 1n, circle, () => 1])
          await expect(put("a", body as Json)).rejects.toMatchObject(refused);
        await expect(put("x".repeat(201), 1)).rejects.toMatchObject(refused);
        await expect(put("a", 1, 0, "x".repeat(101))).rejects.toMatchObject(refused);
        expect(await store.records("note")).toHaveLength(1);
      });
    });

    if (!second) return;
    describe("with a second instance on the same data", () => {
      let other: Store;
      beforeEach(async () => {
        other = await second(store);
      });
      afterEach(() => other.close());

      it("both see facts, runs, titles, blobs, messages and what is found", async () => {
        const lease = await held(store, "s1");
        const facts = await store.append([start("s1", "r1"), said("s1", "r1", "apricot")], {
          expected: 0,
          lease,
        });
        const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
        await store.rename("s1", "title");
        expect(await other.read("s1")).toEqual(facts);
        expect(await other.runs("s1")).toEqual(await store.runs("s1"));
        expect(await other.list()).toMatchObject([{ id: "s1", title: "title", facts: 2 }]);
        expect(await other.getBlob("s1", handle)).toMatchObject({ data: "x" });
        expect(await other.search("apricot")).toHaveLength(1);
        await Promise.all([other.tell("r1", steer("k")), store.tell("r1", steer("k"))]);
        expect(await store.told("r1")).toEqual([steer("k")]);
        await other.remove("s1");
        expect(await store.read("s1")).toEqual([]);
      });

      it("one of them holds the lease; the other may take it when it lapsed, and fences the first off (F74, F75)", async () => {
        const both = await Promise.all([store.lease("s1", "ann", 60_000), other.lease("s1", "bob", 60_000)]);
        expect(both.filter((lease) => lease !== undefined)).toHaveLength(1);
        const stale = await held(store, "s2", "ann", 1);
        await store.append([start("s2", "r2")], { expected: 0, lease: stale });
        await pause(10);
        expect((await other.orphans()).map(({ runId }) => runId)).toEqual(["r2"]);
        const fresh = await held(other, "s2", "bob");
        expect(fresh.token).toBeGreaterThan(stale.token);
        expect(await store.orphans()).toEqual([]);
        await expect(
          store.append([warning("s2", "r2", "a")], { expected: 1, lease: stale }),
        ).rejects.toMatchObject({ code: "lease_lost" });
        await other.append([warning("s2", "r2", "b")], { expected: 1, lease: fresh });
        expect(await store.read("s2")).toHaveLength(2);
      });

      it("their appends do not mix: at one position one wins, and no log has a gap", async () => {
        const lease = await held(store, "s1");
        let [won, lost] = [0, 0];
        for (let expected = 0; expected < 20; expected++) {
          const race = [store, other].map((each, index) =>
            each.append([warning("s1", "r1", `${expected} ${index}`)], { expected, lease }),
          );
          for (const outcome of await Promise.allSettled(race))
            outcome.status === "fulfilled" ? won++ : lost++;
        }
        expect([won, lost]).toEqual([20, 20]);
        const seqs = (await other.read("s1")).map((stored) => stored.seq);
        expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
      });

      it("both see records, and of two who write a version at once one wins (F74)", async () => {
        for (let expected = 0; expected < 10; expected++) {
          const race = [store, other].map((each, body) =>
            each.putRecord({ kind: "note", id: "a", body }, expected),
          );
          const won = (await Promise.allSettled(race)).filter(({ status }) => status === "fulfilled");
          expect(won).toHaveLength(1);
        }
        expect(await other.recordVersions("note", "a")).toEqual(await store.recordVersions("note", "a"));
        await other.removeRecord("note", "a", 10);
        expect(await store.records("note")).toEqual([]);
      });

      it("who watches in one hears what the other writes and tells", async () => {
        const lease = await held(store, "s1");
        const heard: News[] = [];
        const stop = other.watch("s1", (news) => heard.push(news));
        await pause(50);
        await store.append([start("s1", "r1")], { expected: 0, lease });
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "facts" }), 5_000);
        await store.tell("r1", steer("k"));
        await vi.waitFor(() => expect(heard).toContainEqual({ type: "told", runId: "r1" }), 5_000);
        stop();
      });
    });
  });
}

async function held(store: Store, sessionId: string, owner = "owner", ms = 60_000): Promise<Lease> {
  const lease = await store.lease(sessionId, owner, ms);
  if (!lease) throw new Error(`no lease on ${sessionId}`);
  return lease;
}

function fact(sessionId: string, runId: string, body: FactBody, at = 0): UnplacedFact {
  const place = body.type === "warning" ? body.code : "0";
  return { ...body, id: factId(body, runId, place), runId, sessionId, agent: "a", turn: 0, at };
}

function said(sessionId: string, runId: string, text: string): UnplacedFact {
  const entry = { type: "assistant", parts: [{ type: "text", text }] } as const;
  const usage = { inputTokens: 0, outputTokens: 0 };
  const body: FactBody = { type: "message", entry, model: "m", usage, ms: 0, finish: "stop" };
  return { ...fact(sessionId, runId, body), id: factId(body, runId, text.slice(0, 100)) };
}

function result(sessionId: string, runId: string, text: string): UnplacedFact {
  const call = { id: "c", name: "t", attempts: 1, ms: 0 };
  return fact(sessionId, runId, {
    type: "tool_call_result",
    result: text,
    is_error: false,
    status: "ok",
    ...call,
  });
}

function waiting(sessionId: string, runId: string, place = "0", at = 0): UnplacedFact {
  const body: FactBody = { type: "waiting", callIds: ["c"] };
  return { ...fact(sessionId, runId, body, at), id: factId(body, runId, place) };
}

function done(sessionId: string, runId: string, at = 0): UnplacedFact {
  const usage = { inputTokens: 0, outputTokens: 0 };
  return fact(
    sessionId,
    runId,
    { type: "done", status: "done", text: "", usage, cost: 0, grounded: false },
    at,
  );
}

function steer(key: string): Told {
  return { key, type: "steer", text: "go left" };
}

function piece(sessionId: string, text: string): Piece {
  const origin = { runId: "r1", sessionId, agent: "a", turn: 1 };
  return { after: 1, delta: { type: "content_delta", delta: text, ...origin } };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function start(sessionId: string, runId: string, at = 0): UnplacedFact {
  return fact(sessionId, runId, { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" }, at);
}

function warning(sessionId: string, runId: string, code: string, at = 0): UnplacedFact {
  return fact(sessionId, runId, { type: "warning", code, message: "" }, at);
}

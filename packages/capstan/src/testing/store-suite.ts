import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FactBody, UnplacedFact } from "../event.ts";
import { factId } from "../event.ts";
import { defaultPolicy } from "../policy.ts";
import type { Lease, Store } from "../store.ts";

/** What every store must do. A test of a store is one line: `storeSuite("acme", () => acme(…))`. */
export function storeSuite(
  name: string,
  make: () => Store | Promise<Store>,
  close?: (store: Store) => unknown,
): void {
  describe(`the store ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await make();
    });
    afterEach(() => close?.(store));

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

      it("removes a session with its runs and blobs", async () => {
        await store.append([start("s1", "r1")], { expected: 0, lease: await held(store, "s1") });
        const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "x" });
        await store.remove("s1");
        expect(await store.read("s1")).toEqual([]);
        expect(await store.sessionOf("r1")).toBeUndefined();
        expect(await store.getBlob("s1", handle)).toBeUndefined();
        expect(await store.list()).toEqual([]);
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

      it("belong to their session", async () => {
        const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "secret" });
        expect(await store.getBlob("s2", handle)).toBeUndefined();
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

function start(sessionId: string, runId: string, at = 0): UnplacedFact {
  return fact(sessionId, runId, { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" }, at);
}

function warning(sessionId: string, runId: string, code: string, at = 0): UnplacedFact {
  return fact(sessionId, runId, { type: "warning", code, message: "" }, at);
}

import { beforeEach, describe, expect, it } from "vitest";
import type { FactBody, UnplacedFact } from "../../kernel/event.ts";
import type { Store } from "../../runtime/store.ts";
import {
  acquireTestLease,
  createFact,
  createMessageFact,
  createStartFact,
  createWarningFact,
} from "./facts-for-suite.ts";

/** Appending and reading facts. */
export function appendsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("appends", () => {
    it("numbers facts from 1 per session", async () => {
      const lease = await acquireTestLease(store, "s1");
      const first = await store.append([createStartFact("s1", "r1"), createWarningFact("s1", "r1", "a")], {
        expected: 0,
        lease,
      });
      const other = await store.append([createStartFact("s2", "r2")], {
        expected: 0,
        lease: await acquireTestLease(store, "s2"),
      });
      expect(first.map((fact) => fact.seq)).toEqual([1, 2]);
      expect(other.map((fact) => fact.seq)).toEqual([1]);
    });

    it("stores a fact once even if it is appended repeatedly, and returns the first", async () => {
      const lease = await acquireTestLease(store, "s1");
      const [first] = await store.append([createWarningFact("s1", "r1", "a", 1)], { expected: 0, lease });
      const again = await store.append(
        [createWarningFact("s1", "r1", "a", 2), createWarningFact("s1", "r1", "b", 2)],
        {
          expected: 1,
          lease,
        },
      );
      expect(again[0]).toEqual(first);
      expect(await store.read("s1")).toEqual([first, again[1]]);
    });

    it("refuses a fact of an unknown type, and everything that was appended with it", async () => {
      const lease = await acquireTestLease(store, "s1");
      const start = createStartFact("s1", "r1");
      for (const type of ["note", "constructor", "", undefined, null]) {
        const unknown = { ...createWarningFact("s1", "r1", "a"), type } as UnplacedFact;
        const facts = [start, unknown];
        await expect(store.append(facts, { expected: 0, lease })).rejects.toMatchObject({
          code: "invalid_input",
          message: expect.stringContaining("Unknown fact type"),
        });
      }
      expect(await store.read("s1")).toEqual([]);
      expect(await store.append([start], { expected: 0, lease })).toHaveLength(1);
    });

    it("distinguishes the start and the result of a call, and each start after a crash", async () => {
      const lease = await acquireTestLease(store, "s1");
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
      const facts = [begin(1), begin(2), end, end].map((body) => createFact("s1", "r1", body));
      await store.append(facts, { expected: 0, lease });
      expect((await store.read("s1")).map((stored) => stored.type)).toEqual([
        "tool_call_start",
        "tool_call_start",
        "tool_call_result",
      ]);
    });

    it("rejects an append at an outdated position and stores nothing", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      const late = store.append([createWarningFact("s1", "r1", "a"), createWarningFact("s1", "r1", "b")], {
        expected: 0,
        lease,
      });
      await expect(late).rejects.toMatchObject({ code: "position_conflict" });
      expect(await store.read("s1")).toHaveLength(1);
    });

    it("preserves data: unicode, prototype names, nesting, numbers, empty values", async () => {
      const lease = await acquireTestLease(store, "s1");
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
      await store.append([createFact("s1", "r1", body)], { expected: 0, lease });
      const [stored] = await store.read("s1");
      expect(JSON.stringify(stored)).toContain(JSON.stringify(input));
      expect(stored).toMatchObject({ id: "toString", name: "hasOwnProperty" });
    });

    it("preserves large text, NUL characters and lone surrogates, also in ids", async () => {
      const odd = ["\u0000", "a\u0000b", "\ud800", "\udfff", "\ufffd", '"', "'", "%_", ""];
      for (const [index, text] of odd.entries()) {
        const [sessionId, runId] = [`s ${text}`, `r ${text}`];
        const lease = await acquireTestLease(store, sessionId);
        const long = text + "x".repeat(index === 0 ? 1_000_000 : 10) + text;
        const facts = [
          createStartFact(sessionId, runId),
          createWarningFact(sessionId, runId, text),
          createMessageFact(sessionId, runId, long),
        ];
        const placed = await store.append(facts, { expected: 0, lease });
        expect(await store.read(sessionId)).toEqual(placed);
        expect(await store.findSession(runId)).toBe(sessionId);
      }
      expect(await store.list()).toHaveLength(odd.length);
    });

    it("distinguishes ids that differ in a lone surrogate or in case", async () => {
      const lease = await acquireTestLease(store, "s1");
      const codes = ["\ud800", "\ud801", "\ufffd", "a", "A", "a\u0000", "a\u0000b", "a ", "é", "e\u0301"];
      const facts = codes.map((code) => createWarningFact("s1", "r1", code));
      expect(await store.append(facts, { expected: 0, lease })).toHaveLength(codes.length);
      expect(await store.read("s1")).toHaveLength(codes.length);
    });

    it("stores a fact once that is appended twice in one batch", async () => {
      const lease = await acquireTestLease(store, "s1");
      const twice = [createWarningFact("s1", "r1", "a", 1), createWarningFact("s1", "r1", "a", 2)];
      const placed = await store.append(twice, { expected: 0, lease });
      expect(placed.map((stored) => [stored.seq, stored.at])).toEqual([
        [1, 1],
        [1, 1],
      ]);
      expect(await store.read("s1")).toHaveLength(1);
    });

    it("accepts a repeated append even if the log has grown", async () => {
      const lease = await acquireTestLease(store, "s1");
      const first = await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      await store.append([createWarningFact("s1", "r1", "a")], { expected: 1, lease });
      expect(await store.append([createStartFact("s1", "r1")], { expected: 0, lease })).toEqual(first);
    });

    it("of many concurrent appends at one position one wins, and the others store nothing (F74)", async () => {
      const lease = await acquireTestLease(store, "s1");
      const race = Array.from({ length: 20 }, (_, index) =>
        store.append(
          [createWarningFact("s1", "r1", `${index}`), createWarningFact("s1", "r1", `${index}.1`)],
          {
            expected: 0,
            lease,
          },
        ),
      );
      const results = await Promise.allSettled(race);
      const lost = results.filter((result) => result.status === "rejected");
      expect(lost).toHaveLength(19);
      for (const { reason } of lost) expect(reason).toMatchObject({ code: "position_conflict" });
      expect(await store.read("s1")).toHaveLength(2);
    });

    it("handles 1,000 concurrent appends to 50 sessions, each log complete and in order", async () => {
      const sessions = Array.from({ length: 50 }, (_, index) => `s${index}`);
      await Promise.all(
        sessions.map(async (sessionId) => {
          const lease = await acquireTestLease(store, sessionId);
          for (let expected = 0; expected < 20; expected++)
            await store.append([createWarningFact(sessionId, `r-${sessionId}`, `${expected}`)], {
              expected,
              lease,
            });
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
    it("returns the facts after a position, in order and up to a limit", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append(
        ["a", "b", "c"].map((code) => createWarningFact("s1", "r1", code)),
        { expected: 0, lease },
      );
      expect((await store.read("s1", 1)).map((stored) => stored.seq)).toEqual([2, 3]);
      expect(await store.read("s1", 3)).toEqual([]);
      const seqs = async (after: number, most: number) =>
        (await store.read("s1", after, most)).map((stored) => stored.seq);
      expect([await seqs(0, 2), await seqs(1, 1), await seqs(2, 5), await seqs(0, 0)]).toEqual([
        [1, 2],
        [2],
        [3],
        [],
      ]);
    });

    it("returns nothing for unknown sessions and runs", async () => {
      expect(await store.read("nobody")).toEqual([]);
      expect(await store.findSession("nobody")).toBeUndefined();
      expect(await store.read("__proto__")).toEqual([]);
    });

    it("finds the session of a run", async () => {
      await store.append([createStartFact("s1", "r1")], {
        expected: 0,
        lease: await acquireTestLease(store, "s1"),
      });
      expect(await store.findSession("r1")).toBe("s1");
    });

    it("returns facts that later appends do not change", async () => {
      const lease = await acquireTestLease(store, "s1");
      await store.append([createStartFact("s1", "r1")], { expected: 0, lease });
      const before = await store.read("s1");
      await store.append([createWarningFact("s1", "r1", "a")], { expected: 1, lease });
      expect(before).toHaveLength(1);
    });
  });
}

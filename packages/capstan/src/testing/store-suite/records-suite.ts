import { beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import type { Store } from "../../runtime/store.ts";
import { delay } from "./facts-for-suite.ts";

/** Versioned records. */
export function recordsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("records", () => {
    const put = (id: string, body: Json, expected = 0, kind = "note") =>
      store.putRecord({ kind, id, body }, expected);

    it("have versions from 1, and every version stays readable (F78)", async () => {
      const first = await put("a", { text: "one" });
      expect(first).toMatchObject({ kind: "note", id: "a", version: 1, body: { text: "one" } });
      await delay(5);
      const second = await put("a", { text: "two" }, 1);
      expect(second).toMatchObject({ version: 2, body: { text: "two" }, createdAt: first.createdAt });
      expect(second.updatedAt).toBeGreaterThan(first.updatedAt);
      expect(await store.getRecord("note", "a")).toEqual(second);
      expect(await store.listRecordVersions("note", "a")).toEqual([first, second]);
    });

    it("do not exist until they are stored, whatever their id", async () => {
      for (const id of ["a", "", "__proto__", "\u0000"]) {
        expect(await store.getRecord("note", id)).toBeUndefined();
        expect(await store.listRecordVersions("note", id)).toEqual([]);
      }
      expect(await store.listRecords("constructor")).toEqual([]);
    });

    it("are listed by the scope of their id", async () => {
      for (const id of ["ann~1", "ann~2", "anna~1", "1", "~1", "bob~ann~1"]) await put(id, { id });
      const list = async (scope: string) => (await store.listRecords("note", { scope })).map(({ id }) => id);
      expect(await list("ann")).toEqual(["ann~1", "ann~2"]);
      expect(await list("bob")).toEqual(["bob~ann~1"]);
      expect(await list("")).toEqual(["1", "~1"]);
      expect(await list("ann~1")).toEqual([]);
      expect(await store.listRecords("note", { scope: "ann", limit: 1 })).toMatchObject([{ id: "ann~1" }]);
    });

    it("are listed when they are due, the earliest first, by their newest version only", async () => {
      const list = async (dueUntil: number, limit?: number) =>
        (await store.listRecords("note", { dueUntil, ...(limit !== undefined && { limit }) })).map(
          ({ id }) => id,
        );
      await put("late", { text: '{"dueAt":1}', dueAt: 1_900_000_000_000 });
      await put("early", { dueAt: 1_800_000_000_000, nested: { dueAt: 5 } });
      await put("never", { text: "dueAt", nested: { dueAt: 5 } });
      for (const [index, dueAt] of ["5", null, -1, [1], true].entries()) await put(`odd ${index}`, { dueAt });
      await put("other", { dueAt: 5 }, 0, "task");
      await put("tiny", { dueAt: 1.5e-7 });
      expect(await list(1_799_999_999_999)).toEqual(["tiny"]);
      await store.removeRecord("note", "tiny", 1);
      expect(await list(1_800_000_000_000)).toEqual(["early"]);
      expect(await list(2_000_000_000_000)).toEqual(["early", "late"]);
      expect(await list(2_000_000_000_000, 1)).toEqual(["early"]);
      await put("early", { dueAt: 2_100_000_000_000 }, 1);
      expect(await list(2_000_000_000_000)).toEqual(["late"]);
      await store.removeRecord("note", "late", 1);
      expect(await list(2_000_000_000_000)).toEqual([]);
      expect(await list(2_200_000_000_000)).toEqual(["early"]);
    });

    it("are rejected at another version and stay unchanged (F74)", async () => {
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
      expect(await store.listRecordVersions("note", "a")).toEqual([first]);
    });

    it("accept one of many concurrent writes with the same version (F74)", async () => {
      for (const expected of [0, 1, 2]) {
        const race = Array.from({ length: 10 }, (_, index) => put("a", [expected, index], expected));
        const outcomes = await Promise.allSettled(race);
        const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
        expect(won.map(({ value }) => value.version)).toEqual([expected + 1]);
        expect(await store.getRecord("note", "a")).toEqual(won[0]?.value);
      }
      expect((await store.listRecordVersions("note", "a")).map(({ version }) => version)).toEqual([1, 2, 3]);
    });

    it("are listed by id, with the newest version of each, per kind", async () => {
      for (const id of ["b", "B", "a", "ä", "\ud83d\ude80", "\uffff"]) await put(id, id);
      await put("a", "newer", 1);
      await put("a", "other", 0, "key");
      const listed = (await store.listRecords("note")).map(({ id, body }) => [id, body]);
      expect(listed).toEqual([
        ["B", "B"],
        ["a", "newer"],
        ["b", "b"],
        ["ä", "ä"],
        ["\ud83d\ude80", "\ud83d\ude80"],
        ["\uffff", "\uffff"],
      ]);
      const chosen = await store.listRecords("note", { ids: ["b", "ä", "absent"] });
      expect(chosen.map(({ id }) => id)).toEqual(["b", "ä"]);
      expect(await store.listRecords("note", { ids: [] })).toEqual([]);
      expect(await store.listRecords("key")).toMatchObject([
        { kind: "key", id: "a", body: "other", version: 1 },
      ]);
    });

    it("are removed with all their versions, and a version number is never reused (F78)", async () => {
      await put("a", "secret");
      await put("a", "secret", 1);
      await put("b", "stays");
      await store.removeRecord("note", "a", 2);
      expect(await store.getRecord("note", "a")).toBeUndefined();
      expect(await store.listRecordVersions("note", "a")).toEqual([]);
      expect((await store.listRecords("note")).map(({ id }) => id)).toEqual(["b"]);
      await expect(put("a", "late", 2)).rejects.toMatchObject({ code: "position_conflict" });
      await store.removeRecord("note", "a", 0);
      await delay(5);
      const anew = await put("a", "anew");
      expect(anew).toMatchObject({ version: 4, createdAt: anew.updatedAt });
      expect(await store.listRecordVersions("note", "a")).toEqual([anew]);
      expect(await store.listRecords("note")).toHaveLength(2);
    });

    it("drop earlier versions on replace, and keep counting (F78)", async () => {
      const first = await put("a", 1);
      await put("a", 2, 1);
      await put("b", "stays");
      await delay(5);
      const replaced = await store.putRecord({ kind: "note", id: "a", body: 3, replaces: true }, 2);
      expect(replaced).toMatchObject({ version: 3, body: 3, createdAt: first.createdAt });
      expect(replaced).not.toHaveProperty("replaces");
      expect(replaced.updatedAt).toBeGreaterThan(first.updatedAt);
      expect(await store.listRecordVersions("note", "a")).toEqual([replaced]);
      expect(await store.listRecordVersions("note", "b")).toHaveLength(1);
      const next = await put("a", 4, 3);
      expect(await store.listRecordVersions("note", "a")).toEqual([replaced, next]);
      const anew = await store.putRecord({ kind: "note", id: "c", body: 1, replaces: true }, 0);
      expect(await store.listRecordVersions("note", "c")).toEqual([anew]);
    });

    it("are not replaced at another version; of many concurrent increments none is lost (F74)", async () => {
      await put("a", 0);
      const late = store.putRecord({ kind: "note", id: "a", body: 9, replaces: true }, 0);
      await expect(late).rejects.toMatchObject({ code: "position_conflict" });
      const count = async (): Promise<unknown> => {
        const { version = 0, body } = (await store.getRecord("note", "a")) ?? {};
        const counted = { kind: "note", id: "a", body: Number(body) + 1, replaces: true } as const;
        return store.putRecord(counted, version).catch((problem) => {
          if (problem.code !== "position_conflict") throw problem;
          return count();
        });
      };
      await Promise.all(Array.from({ length: 10 }, count));
      expect(await store.listRecordVersions("note", "a")).toMatchObject([{ version: 11, body: 10 }]);
    });

    it("accept either a removal or a concurrent write (F74)", async () => {
      for (let round = 0; round < 5; round++) {
        const { version } = await put(`a${round}`, "x");
        const race = [put(`a${round}`, "y", version), store.removeRecord("note", `a${round}`, version)];
        const outcomes = await Promise.allSettled(round % 2 ? race : race.reverse());
        expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      }
    });

    it("preserve data, and are not changed through a returned value", async () => {
      const text =
        '{"__proto__":{"x":1},"n":[1.5,1e21,null,true,"",{}],"u":"\\u0000 \\ud800 \\ud83d\\ude80"}';
      const body = JSON.parse(text);
      const odd = ["\u0000", "\ud800", '"', "'; --", "%_", "x".repeat(200), "\u0000".repeat(200)];
      for (const id of odd) {
        const placed = await put(id, body, 0, `k${id.slice(0, 99)}`);
        expect(JSON.stringify(placed.body)).toBe(JSON.stringify(body));
        (placed.body as { n: Json[] }).n.length = 0;
        const [read] = await store.listRecords(`k${id.slice(0, 99)}`);
        expect(read).toMatchObject({ id, kind: `k${id.slice(0, 99)}` });
        expect(JSON.stringify(read?.body)).toBe(JSON.stringify(body));
      }
      for (const scalar of [null, false, 0, "", []]) {
        const id = JSON.stringify(scalar);
        await put(id, scalar);
        expect((await store.getRecord("note", id))?.body).toEqual(scalar);
      }
    });

    it("have a maximum size: values that are too large or not JSON are rejected", async () => {
      const largest = "ä".repeat(499_999);
      await put("large", largest);
      expect((await store.getRecord("note", "large"))?.body === largest).toBe(true);
      const circle: Json[] = [];
      circle.push(circle);
      const refused = { code: "invalid_input", retryable: false };
      for (const body of [`${largest}a`, undefined, 1n, circle, () => 1])
        await expect(put("a", body as Json)).rejects.toMatchObject(refused);
      await expect(put("x".repeat(201), 1)).rejects.toMatchObject(refused);
      await expect(put("a", 1, 0, "x".repeat(101))).rejects.toMatchObject(refused);
      expect(await store.listRecords("note")).toHaveLength(1);
    });
  });
}

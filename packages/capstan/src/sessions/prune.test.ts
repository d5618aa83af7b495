import { beforeEach, describe, expect, it } from "vitest";
import type { FactBody, UnplacedFact } from "../kernel/event.ts";
import { defaultPolicy } from "../kernel/policy.ts";
import { createFactId } from "../runtime/facts.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { type PruneOptions, prune } from "./prune.ts";

describe.each([
  ["memory", () => memory()],
  ["SQLite", () => sqlite(":memory:")],
])("pruning sessions in %s", (_name, open) => {
  let store: Store;
  beforeEach(() => {
    store = open();
  });

  function createFact(sessionId: string, body: FactBody, at: number): UnplacedFact {
    const runId = `r-${sessionId}`;
    const id = createFactId(body, { runId, retries: 0 }, "0");
    return { ...body, id, runId, sessionId, agent: "a", turn: 0, at };
  }

  type State = "ended" | "waiting" | "active";

  async function addSession(sessionId: string, at: number, state: State = "ended", text = ""): Promise<void> {
    const lease = await store.lease(sessionId, "owner", 60_000);
    if (!lease) throw new Error("no lease");
    const usage = { inputTokens: 0, outputTokens: 0 };
    const end: FactBody[] = [
      ...(state === "ended"
        ? [{ type: "done", status: "done", text, usage, cost: 0, grounded: false } as const]
        : []),
      ...(state === "waiting" ? [{ type: "waiting", callIds: [] } as const] : []),
    ];
    const start: FactBody = { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" };
    const facts = [start, ...end].map((body) => createFact(sessionId, body, at));
    await store.append(facts, { expected: 0, lease });
    await store.release(lease);
  }

  async function pruneAll(options: PruneOptions): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of prune(store, options)) ids.push(id);
    return ids;
  }
  const listIds = async () => (await store.list()).map(({ id }) => id).sort();

  it("removes sessions that were last used before a time, and their blobs", async () => {
    for (const [id, at] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) await addSession(id, at);
    const handle = await store.putBlob("b", { mediaType: "text/plain", data: "x" });
    expect(await pruneAll({ before: 3 })).toEqual(["b", "a"]);
    expect(await listIds()).toEqual(["c", "d"]);
    expect(await store.getBlob("b", handle)).toBeUndefined();
    expect(await pruneAll({ before: 3 })).toEqual([]);
  });

  it("removes sessions that are larger than a size, counting blobs", async () => {
    await addSession("small", 1);
    await addSession("text", 2, "ended", "x".repeat(50_000));
    await addSession("blob", 3);
    await store.putBlob("blob", { mediaType: "a/b", data: new Uint8Array(60_000) });
    const sizes: (number | undefined)[] = [];
    for await (const { bytes } of prune(store, { largerThan: 40_000, dryRun: true })) sizes.push(bytes);
    expect(sizes.map((bytes) => Math.floor((bytes ?? 0) / 10_000))).toEqual([6, 5]);
    expect(await pruneAll({ largerThan: 55_000 })).toEqual(["blob"]);
    expect(await listIds()).toEqual(["small", "text"]);
  });

  it("combines conditions, and asks for at least one", async () => {
    for (const [id, at] of Object.entries({ "ann~1": 1, "ann~2": 5, "bob~1": 1 })) await addSession(id, at);
    expect(await pruneAll({ scope: "ann", before: 3 })).toEqual(["ann~1"]);
    expect(await pruneAll({ scope: "bob" })).toEqual(["bob~1"]);
    await expect(pruneAll({})).rejects.toMatchObject({ code: "invalid_input" });
    expect(await listIds()).toEqual(["ann~2"]);
  });

  it("removes nothing in a dry run", async () => {
    await addSession("a", 1);
    expect(await pruneAll({ before: 3, dryRun: true })).toEqual(["a"]);
    expect(await listIds()).toEqual(["a"]);
  });

  it("keeps sessions with an active or waiting run, unless asked to remove them", async () => {
    await addSession("active", 1, "active");
    await addSession("waiting", 1, "waiting");
    await addSession("ended", 1);
    for (const dryRun of [true, false]) expect(await pruneAll({ before: 3, dryRun })).toEqual(["ended"]);
    expect(await pruneAll({ before: 3, includeUnfinished: true })).toEqual(["active", "waiting"]);
  });

  it("keeps a session that is in use or changes meanwhile", async () => {
    for (const id of ["a", "b", "c"]) await addSession(id, 1);
    await store.lease("b", "another process", 60_000);
    const changing: Store = {
      ...store,
      async lease(sessionId, owner, ms) {
        if (sessionId === "c" && owner.startsWith("prune_")) {
          const lease = await store.lease("c", "writer", 60_000);
          if (lease) {
            const usage = { inputTokens: 0, outputTokens: 0 };
            const start: FactBody = { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" };
            const end: FactBody = { type: "done", status: "done", text: "", usage, cost: 0, grounded: false };
            const facts = [start, end].map((body) => ({
              ...createFact("c", body, 9),
              ...{ runId: "r2", id: createFactId(body, { runId: "r2", retries: 0 }, "0") },
            }));
            await store.append(facts, { expected: 2, lease });
            await store.release(lease);
          }
        }
        return store.lease(sessionId, owner, ms);
      },
    };
    const pruned: string[] = [];
    for await (const { id } of prune(changing, { before: 3 })) pruned.push(id);
    expect(pruned).toEqual(["a"]);
    expect(await listIds()).toEqual(["b", "c"]);
  });

  it("goes through any number of sessions, page by page, and stops when it is aborted", async () => {
    for (let index = 0; index < 230; index++) await addSession(`s${index}`, 1 + (index % 3));
    const limits = new Set<number | undefined>();
    const paged: Store = {
      ...store,
      list(options) {
        limits.add(options?.limit);
        return store.list(options);
      },
    };
    const controller = new AbortController();
    let count = 0;
    for await (const _ of prune(paged, { before: 3, signal: controller.signal })) {
      count += 1;
      if (count === 5) controller.abort();
    }
    expect(count).toBe(5);
    for await (const _ of prune(paged, { before: 3 })) count += 1;
    expect(count).toBe(154);
    expect([...limits]).toEqual([100]);
    expect(await listIds()).toHaveLength(76);
  });
});

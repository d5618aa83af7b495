import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import type { Entry } from "../../kernel/history.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import type { Store } from "../../runtime/store.ts";
import { createFact } from "../../testing/store-suite/facts-for-suite.ts";
import { type Connection, openConnection } from "./connection.ts";
import { createSqliteStore } from "./sqlite-store.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type FailingConnection = Connection & { isBroken: boolean };

/** A connection whose writes of the derived tables fail while it is broken. */
function openFailing(): FailingConnection {
  const connection = openConnection(join(folder, "store.db"), 100);
  const failing: FailingConnection = {
    ...connection,
    isBroken: false,
    run(sql, ...values) {
      if (failing.isBroken && /search|run_summaries/.test(sql)) throw new Error("disk full");
      return connection.run(sql, ...values);
    },
  };
  return failing;
}

const createStore = (connection: Connection): Store =>
  createSqliteStore(connection, { busyTimeoutMs: 100, pollMs: 20, now: () => Date.now() });

async function append(store: Store, facts: readonly UnplacedFact[]): Promise<void> {
  const lease = await store.lease("s", "owner", 60_000);
  if (!lease) throw new Error("no lease");
  const { facts: expected = 0 } = (await store.getSession("s")) ?? {};
  await store.append(facts, { expected, lease });
  await store.release(lease);
}

const input: Entry[] = [{ type: "user", content: "Find the harbor" }];
const start = createFact("s", "r", { type: "run_start", input, policy: defaultPolicy, timeZone: "UTC" });
const createResult = (n: number): UnplacedFact =>
  createFact("s", "r", {
    type: "tool_call_result",
    id: `call_${n}`,
    name: "find",
    result: `berth${n}`,
    is_error: false,
    status: "ok",
    attempts: 1,
    ms: 1,
  });

const countRows = (connection: Connection) =>
  ({
    ...connection.get<object>(`SELECT (SELECT count(*) FROM search) AS words,
      (SELECT ifnull(sum(tool_calls), 0) FROM run_summaries) AS calls`),
  }) as { readonly words: number; readonly calls: number };

describe("the search index and the summaries of runs", () => {
  it("are not written with a step, but soon after it", async () => {
    const connection = openFailing();
    const store = createStore(connection);
    await append(store, [start, ...Array.from({ length: 250 }, (_, n) => createResult(n))]);
    expect(countRows(connection)).toEqual({ words: 0, calls: 0 });
    await expect.poll(() => countRows(connection), { timeout: 30_000 }).toEqual({ words: 251, calls: 250 });
    await append(store, [createResult(250)]);
    await expect.poll(() => countRows(connection), { timeout: 30_000 }).toEqual({ words: 252, calls: 251 });
    await store.close();
  });

  it("are complete for every reader, also in another process", async () => {
    const store = createStore(openFailing());
    const other = createStore(openFailing());
    for (let n = 0; n < 5; n++) {
      await append(store, n === 0 ? [start, createResult(n)] : [createResult(n)]);
      for (const reader of [other, store]) {
        expect(await reader.search(`berth${n}`)).toMatchObject([{ sessionId: "s", seq: n + 2 }]);
        expect((await reader.queryRuns?.())?.runs).toMatchObject([{ runId: "r", toolCalls: n + 1 }]);
      }
    }
    await store.close();
    await other.close();
  });

  it("may fail without a step failing, and are completed later", async () => {
    const connection = openFailing();
    const store = createStore(connection);
    connection.isBroken = true;
    await append(store, [start, createResult(1)]);
    await expect(store.search("berth1")).rejects.toMatchObject({ code: "store_failed" });
    await new Promise((resolve) => setTimeout(resolve, 400)); // the attempt in the background fails, too
    expect(countRows(connection)).toEqual({ words: 0, calls: 0 });
    connection.isBroken = false;
    await append(store, [createResult(2)]);
    await expect.poll(() => countRows(connection), { timeout: 30_000 }).toEqual({ words: 3, calls: 2 });
    await store.close();
  });
});

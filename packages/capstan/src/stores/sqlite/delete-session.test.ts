import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { UnplacedFact } from "../../kernel/event.ts";
import type { Store } from "../../runtime/store.ts";
import { type Connection, openConnection } from "./connection.ts";
import { createSqliteStore } from "./sqlite-store.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (): Connection => openConnection(join(folder, "store.db"), 100);
const createStore = (connection: Connection, now = () => Date.now()): Store =>
  createSqliteStore(connection, { busyTimeoutMs: 100, pollMs: 20, now });

/** A connection that counts the facts written and deleted in each transaction, and fails after some transactions. */
function countFacts(connection: Connection): Connection & { readonly counts: number[]; failAfter: number } {
  const counts: number[] = [];
  const counted = {
    ...connection,
    counts,
    failAfter: Number.POSITIVE_INFINITY,
    run(sql: string, ...values: never[]) {
      if (sql === "BEGIN IMMEDIATE" && counts.push(0) > counted.failAfter) throw new Error("killed");
      const changes = connection.run(sql, ...values);
      if (/^(INSERT INTO|DELETE FROM) facts/.test(sql)) counts.push((counts.pop() ?? 0) + changes);
      return changes;
    },
  };
  return counted as Connection & { readonly counts: number[]; failAfter: number };
}

async function fill(store: Store, sessionId: string, texts: readonly string[]): Promise<void> {
  const lease = await store.lease(sessionId, "owner", 60_000);
  if (!lease) throw new Error(`no lease on ${sessionId}`);
  await store.append(
    texts.map((text, index) => createFact(sessionId, index, text)),
    { expected: 0, lease },
  );
  await store.release(lease);
  await store.search("indexed"); // adds the facts to the index
}

function createFact(sessionId: string, index: number, content: string): UnplacedFact {
  const origin = {
    runId: `r-${sessionId}`,
    sessionId,
    agent: "a",
    turn: 0,
    at: 1,
    id: `${sessionId}/${index}`,
  };
  return { type: "steered", entry: { type: "user", content }, ...origin };
}

const repeat = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => `${text} w${index}`);
const readFiles = () => Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

function listRows(connection: Connection): unknown {
  return {
    ...connection.get<object>(`SELECT (SELECT count(*) FROM facts) AS facts, (SELECT count(*) FROM search) AS words,
      (SELECT count(*) FROM blobs) AS blobs, (SELECT count(*) FROM sessions) AS sessions,
      (SELECT count(*) FROM hidden_sessions) AS hidden,
      (SELECT v FROM search_config WHERE k = 'secure-delete') AS isErasing`),
  };
}

it("a session disappears at once, and its data is deleted in transactions of at most 250 facts", async () => {
  const connection = countFacts(open());
  const store = createStore(connection);
  await fill(store, "s", repeat(1_100, "secret"));
  await store.putBlob("s", { mediaType: "text/plain", data: "secret" });
  connection.counts.length = 0;
  const removed = store.remove("s");
  await vi.waitFor(() => expect(connection.counts.length).toBeGreaterThan(0));
  expect(await store.getSession("s")).toBeUndefined();
  expect(await store.search("secret")).toEqual([]);
  await removed;
  expect(connection.counts.reduce((sum, count) => sum + count, 0)).toBe(1_100);
  expect(Math.max(...connection.counts)).toBeLessThanOrEqual(250);
  expect(listRows(connection)).toEqual({
    facts: 0,
    words: 0,
    blobs: 0,
    sessions: 0,
    hidden: 0,
    isErasing: 1,
  });
  expect(readFiles().includes("secret")).toBe(false);
  await store.close();
});

it("facts of a small session are erased in place, in transactions of at most 20 facts", async () => {
  const connection = countFacts(open());
  const store = createStore(connection);
  await fill(store, "large", repeat(2_600, "keep"));
  await fill(store, "small", repeat(50, "secret"));
  connection.counts.length = 0;
  await store.remove("small");
  expect(connection.counts.filter((count) => count > 0)).toEqual([20, 20, 10]);
  expect(readFiles().includes("secret")).toBe(false);
  expect(await store.search("keep", { limit: 3 })).toHaveLength(3);
  await store.close();
});

it("a removal that a crash interrupts is finished when the file is opened again (F73)", async () => {
  for (let transactions = 1; ; transactions++) {
    const connection = countFacts(open());
    const store = createStore(connection);
    await fill(store, "keep", repeat(3, "keep"));
    await fill(store, "s", repeat(600, "secret"));
    connection.counts.length = 0;
    connection.failAfter = transactions;
    const outcome = await store.remove("s").then(
      () => "removed",
      () => "interrupted",
    );
    connection.close();
    const next = open();
    const nextStore = createStore(next);
    expect(await nextStore.getSession("s")).toBeUndefined();
    expect(await nextStore.listRuns("s")).toEqual([]);
    expect(await nextStore.search("secret")).toEqual([]);
    await expect
      .poll(() => listRows(next), { timeout: 30_000 })
      .toEqual({ facts: 3, words: 3, blobs: 0, sessions: 1, hidden: 0, isErasing: 1 });
    await nextStore.remove("keep");
    await nextStore.close();
    if (outcome === "removed") return expect(transactions).toBeGreaterThan(5);
  }
}, 60_000);

it("a session whose writer crashed is deleted after its time, and not before (F73)", async () => {
  let time = 1_000_000;
  const connection = countFacts(open());
  const store = createStore(connection, () => time);
  const lease = await store.lease("s", "owner", 1_000);
  if (!lease) throw new Error("no lease");
  connection.counts.length = 0;
  const writing = store.writeSession({ lease }, async ({ append, putBlob }) => {
    await putBlob({ mediaType: "text/plain", data: "x" });
    await append(repeat(600, "half").map((text, index) => createFact("s", index, text)));
    expect(await store.search("half")).toEqual([]);
    connection.failAfter = 0;
  });
  await expect(writing).rejects.toThrow("killed");
  expect(Math.max(...connection.counts)).toBe(100);
  connection.close();
  const written = { facts: 600, words: 600, blobs: 1, sessions: 1, hidden: 1, isErasing: 1 };
  const early = open();
  await createStore(early, () => time).close();
  const checked = open();
  expect(listRows(checked)).toEqual(written);
  checked.close();
  time += 61_000;
  const late = open();
  const lateStore = createStore(late, () => time);
  await expect
    .poll(() => listRows(late), { timeout: 30_000 })
    .toEqual({ facts: 0, words: 0, blobs: 0, sessions: 0, hidden: 0, isErasing: 1 });
  await lateStore.close();
});

it("facts that an earlier program writes are found by the next search, which indexes them in parts", async () => {
  const connection = open();
  const store = createStore(connection);
  await fill(store, "ann~s", ["first café"]);
  const insert = "INSERT INTO facts (session, seq, identity, version, fact) VALUES (1, ?, ?, 1, ?)";
  for (let seq = 2; seq <= 450; seq++) {
    connection.run(insert, seq, `${seq}`, JSON.stringify(createFact("ann~s", seq, `Crème ${seq}`)));
    const [number] = connection.all<{ number: number }>("SELECT max(number) AS number FROM facts");
    connection.run("INSERT INTO search (rowid, words) VALUES (?, ?)", number?.number ?? 0, `crème ${seq}`);
  }
  connection.run("UPDATE sessions SET facts = 450");
  const find = async (words: string) =>
    (await store.search(words, { scope: "ann", limit: 1_000 })).map(({ seq }) => seq);
  expect(await find("creme 449")).toEqual([449]);
  expect(await find("creme")).toHaveLength(449);
  const lease = await store.lease("ann~s", "owner", 60_000);
  if (!lease) throw new Error("no lease");
  await store.append([createFact("ann~s", 999, "last café")], { expected: 450, lease });
  expect((await find("cafe")).sort()).toEqual([1, 451]);
  await store.remove("ann~s");
  await fill(store, "ann~t", ["next café"]);
  expect(await find("cafe")).toEqual([1]);
  await store.close();
});

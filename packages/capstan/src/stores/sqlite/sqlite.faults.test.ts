import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FactBody, UnplacedFact } from "../../kernel/event.ts";
import { defaultPolicy } from "../../kernel/policy.ts";
import type { Lease, Store } from "../../runtime/store.ts";
import { type Connection, openConnection } from "./connection.ts";
import { sqlite } from "./sqlite.ts";
import { createSqliteStore } from "./sqlite-store.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  file = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each([
  ["deleted", () => rmSync(file)],
  ["deleted with its write-ahead log", () => removeDatabase(file)],
  ["without its write-ahead log", () => rmSync(`${file}-wal`)],
  ["replaced", () => replaceDatabase(file)],
])("a file that is %s while it is in use", (_, damage) => {
  const refusal = { code: "store_failed", retryable: false, message: expect.stringContaining(file) };

  it("fails every later read and write with a named error (F70, F95)", async () => {
    const store = sqlite(file);
    const lease = await held(store, "s1");
    await store.append([note("s1", 0)], { expected: 0, lease });
    damage();
    await expect(store.append([note("s1", 1)], { expected: 1, lease })).rejects.toMatchObject(refusal);
    await expect(store.renew(lease, 1000)).rejects.toMatchObject(refusal);
    await expect(store.read("s1")).rejects.toMatchObject(refusal);
    await store.close();
  });

  it("fails the write during which that happened (F70)", async () => {
    const store = storeOn(
      watched(openConnection(file, 100), (sql) => {
        if (sql === "COMMIT" && isArmed) damage();
      }),
    );
    let isArmed = false;
    const lease = await held(store, "s1");
    isArmed = true;
    await expect(store.append([note("s1", 0)], { expected: 0, lease })).rejects.toMatchObject(refusal);
    await store.close();
  });
});

it("a file that is put back after it was moved away is used again (F70)", async () => {
  const store = sqlite(file);
  const lease = await held(store, "s1");
  for (const suffix of ["", "-wal"]) renameSync(file + suffix, `${file}.away${suffix}`);
  await expect(store.read("s1")).rejects.toMatchObject({ code: "store_failed" });
  for (const suffix of ["", "-wal"]) renameSync(`${file}.away${suffix}`, file + suffix);
  await store.append([note("s1", 0)], { expected: 0, lease });
  expect(await codes(store, "s1")).toEqual(["0"]);
  await store.close();
});

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix);
}

/** Another program deletes the file and creates one with the same name. */
function replaceDatabase(path: string): void {
  renameSync(path, `${path}.old`); // keeps its inode in use
  new DatabaseSync(path).close();
}

describe("writes of the same moment", () => {
  it("are one transaction, and a refused write does not affect the others", async () => {
    const commits: string[] = [];
    const store = storeOn(watched(openConnection(file, 100), (sql) => commits.push(sql)));
    const lease = await held(store, "s1");
    commits.length = 0;
    const outcomes = await Promise.allSettled([
      store.append([note("s1", 0)], { expected: 0, lease }),
      store.append([note("s1", 1)], { expected: 7, lease }),
      store.append([note("s1", 2)], { expected: 1, lease: { ...lease, token: 0 } }),
      store.append([note("s1", 3)], { expected: 1, lease }),
      store.sendMessage("nobody", { key: "k", type: "cancel" }),
      store.putBlob("s1", { mediaType: "a/b", data: "" }),
    ]);
    expect(
      outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "stored")),
    ).toEqual(["stored", "position_conflict", "lease_lost", "stored", "unknown_run", "stored"]);
    expect(commits.filter((sql) => sql === "COMMIT")).toHaveLength(1);
    expect(await codes(store, "s1")).toEqual(["0", "3"]);
    await store.close();
  });

  it("all reject when the transaction cannot be finished, and none is stored (F70)", async () => {
    let isBroken = false;
    const store = storeOn(
      watched(openConnection(file, 100), (sql) => {
        if (isBroken && sql === "COMMIT") throw ioError();
      }),
    );
    const leases = [await held(store, "s1"), await held(store, "s2")];
    isBroken = true;
    const appends = leases.map((lease) => store.append([note(lease.sessionId, 0)], { expected: 0, lease }));
    for (const outcome of await Promise.allSettled(appends))
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { code: "store_failed", retryable: true },
      });
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE; ROLLBACK"); // the file is not left locked
    other.close();
    expect(await store.list()).toEqual([]);
    isBroken = false;
    for (const lease of leases) await store.append([note(lease.sessionId, 0)], { expected: 0, lease });
    expect(await store.list()).toHaveLength(2);
    await store.close();
  });

  it("are still stored when the store is closed; later ones are refused", async () => {
    const store = sqlite(file);
    const lease = await held(store, "s1");
    const append = store.append([note("s1", 0)], { expected: 0, lease });
    await Promise.all([store.close(), store.close()]);
    await append;
    for (const late of [
      store.append([note("s1", 1)], { expected: 1, lease }),
      store.read("s1"),
      store.list(),
    ])
      await expect(late).rejects.toMatchObject({
        code: "store_failed",
        message: expect.stringContaining("closed"),
      });
    store.watch("s1", () => {})();
    const again = sqlite(file);
    expect(await codes(again, "s1")).toEqual(["0"]);
    await again.close();
  });
});

describe("another process that holds the file", () => {
  it("delays the write without blocking reads or the event loop, then refuses it with a named error (F68)", async () => {
    const store = sqlite(file, { busyTimeoutMs: 300 });
    const lease = await held(store, "s1");
    await store.append([note("s1", 0)], { expected: 0, lease });
    const patient = sqlite(file, { busyTimeoutMs: 30_000 });
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const refused = store.append([note("s1", 1)], { expected: 1, lease });
    expect(await codes(store, "s1")).toEqual(["0"]);
    await expect(refused).rejects.toMatchObject({
      code: "store_busy",
      retryable: true,
      message: expect.stringMatching(/store\.db" is locked by another process \(.*\): wait until/),
    });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
    expect(await codes(store, "s1")).toEqual(["0"]);
    const waiting = patient.append([note("s1", 1)], { expected: 1, lease });
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.exec("ROLLBACK");
    await waiting;
    await patient.close();
    expect(await codes(store, "s1")).toEqual(["0", "1"]);
    other.close();
    await store.close();
  });

  it("is not waited for by one who only reads", async () => {
    const store = sqlite(file);
    const other = new DatabaseSync(file);
    other.exec("BEGIN EXCLUSIVE");
    expect(await store.list()).toEqual([]);
    other.exec("ROLLBACK");
    other.close();
    await store.close();
  });
});

describe("a full disk", () => {
  it("refuses the write with a named error, keeps stored data readable, and accepts writes once space is free (F69)", async () => {
    for (let room = 0; room < 12; room++) {
      const connection = openConnection(join(folder, `${room}.db`), 100);
      const store = storeOn(connection);
      const lease = await held(store, "s1");
      await store.append([started("s1"), note("s1", 0)], { expected: 0, lease });
      await store.sendMessage("r-s1", { key: "k", type: "cancel" });
      limit(connection, room);
      const large = [spoken("s1", `needle ${"hay ".repeat(2_000)}`), note("s1", 1, "x".repeat(8_000))];
      const outcome = await store
        .append(large, { expected: 2, lease, acknowledged: ["k"] })
        .catch((error) => error);
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: "store_full", retryable: true });
        expect(outcome.message).toMatch(/\.db" cannot grow because the disk is full \(.*\): free some space/);
        expect(await store.read("s1")).toHaveLength(2);
        expect(await store.search("needle")).toEqual([]);
        expect(await store.listMessages("r-s1")).toHaveLength(1);
      } else expect(room).toBeGreaterThan(4);
      limit(connection, 10_000);
      expect(await store.append(large, { expected: 2, lease, acknowledged: ["k"] })).toMatchObject([
        { seq: 3 },
        { seq: 4 },
      ]);
      expect(await store.search("needle")).toHaveLength(1);
      await store.close();
    }
  });
});

describe("a failure at the n-th statement, for every n", () => {
  type Fault = "before it" | "after it" | "from there on";
  /** Gives how the writes went, and the store, which is well again. */
  async function faulted(failing: number, fault: Fault) {
    let [count, isActive] = [0, false];
    const hit = (when: "before" | "after") => {
      if (!isActive) return;
      if (when === "before") count += 1;
      if (fault === "from there on" ? count >= failing : count === failing && fault === `${when} it`)
        throw ioError();
    };
    const connection = openConnection(":memory:", 100);
    const store = storeOn(
      watched(
        connection,
        () => hit("before"),
        () => hit("after"),
      ),
    );
    const leases = [await held(store, "s1"), await held(store, "s2")] as const;
    await store.append([started("s1")], { expected: 0, lease: leases[0] });
    await store.sendMessage("r-s1", { key: "heard", type: "cancel" });
    isActive = true;
    const outcomes = await Promise.allSettled(writes(store, leases));
    isActive = false;
    return { store, leases, outcomes, isOver: count < failing };
  }

  function writes(store: Store, [first, second]: readonly [Lease, Lease]) {
    const facts = [spoken("s1", "needle"), note("s1", 1)];
    return [
      store.append(facts, { expected: 1, lease: first, acknowledged: ["heard"] }),
      store.append([started("s2"), note("s2", 0)], { expected: 0, lease: second }),
      store.sendMessage("r-s1", { key: "new", type: "steer", text: "x" }),
    ];
  }

  /** Of each write, all that it leaves behind. */
  async function traces(store: Store): Promise<unknown[][]> {
    const told = (await store.listMessages("r-s1")).map(({ key }) => key);
    return [
      [
        await codes(store, "s1"),
        await store.search("needle").then((found) => found.length),
        told.includes("heard"),
      ],
      [await codes(store, "s2"), (await store.listRuns("s2")).length, (await store.list()).length],
      [told.includes("new")],
    ];
  }
  const none = [[["run_start"], 0, true], [[], 0, 1], [false]];
  const whole = [[["run_start", "needle", "1"], 1, false], [["run_start", "0"], 1, 2], [true]];

  it.each<Fault>([
    "before it",
    "after it",
    "from there on",
  ])("%s: each write is there or it is not, and works when it is repeated (F70)", async (fault) => {
    for (let failing = 1; ; failing++) {
      const { store, leases, outcomes, isOver } = await faulted(failing, fault);
      const left = await traces(store);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") expect(left[index]).toEqual(whole[index]);
        else {
          expect(outcome.reason).toMatchObject({
            code: "store_failed",
            message: expect.stringContaining(":memory:"),
          });
          // Told of a failure after the disk had it: the one case in which a refused write is stored, all of it.
          const isStored = fault === "after it" && JSON.stringify(left) === JSON.stringify(whole);
          expect(left[index]).toEqual(isStored ? whole[index] : none[index]);
        }
      }
      if (isOver) expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
      await Promise.all(writes(store, leases));
      expect(await traces(store)).toEqual(whole);
      await store.close();
      if (isOver) return expect(failing).toBeGreaterThan(20);
    }
  });
});

describe("the clock of the machine", () => {
  it("may be set forward and back: no order changes, and no lease holds for years (F76)", async () => {
    let time = 1_000_000_000_000;
    const settings = { busyTimeoutMs: 100, pollMs: 20, now: () => time };
    const store = createSqliteStore(openConnection(file, 100), settings);
    const hour = 3_600_000;
    let expected = 0;
    for (const jump of [0, hour, -hour, 10 * 8_766 * hour, -10 * 8_766 * hour, -hour]) {
      time += jump;
      const lease = await store.lease("s1", `owner ${expected}`, 60_000);
      if (!lease) throw new Error(`no lease after a jump of ${jump}`);
      await store.append([{ ...note("s1", expected), at: time }], { expected, lease });
      expected += 1;
      time -= 1_000; // a small step back takes nothing from its owner
      expect(await store.lease("s1", "somebody else", 60_000)).toBeUndefined();
      expect(await store.renew(lease, 60_000)).toBe(true);
    }
    expect(await codes(store, "s1")).toEqual(["0", "1", "2", "3", "4", "5"]);
    await store.close();
  });
});

describe("a removed session", () => {
  it("is no longer in any of the files, and its space is released", async () => {
    const connection = openConnection(file, 100);
    const store = storeOn(connection);
    for (const sessionId of ["keep", "secret"]) {
      const lease = await held(store, sessionId);
      const text = `pass${sessionId} `.repeat(20_000);
      await store.append([started(sessionId), spoken(sessionId, text), note(sessionId, 1, text)], {
        expected: 0,
        lease,
      });
      await store.rename(sessionId, `title pass${sessionId}`);
      await store.putBlob(sessionId, { mediaType: "text/plain", data: text });
      await store.sendMessage(`r-${sessionId}`, { key: "k", type: "steer", text });
    }
    const pages = () => connection.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
    const before = pages();
    await store.remove("secret");
    expect(pages()).toBeLessThan(before * 0.6);
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    expect(bytes.includes("passkeep")).toBe(true);
    expect(bytes.includes("secret")).toBe(false);
    await store.close();
  });
});

describe("a removed record", () => {
  it("is no longer in any of the files, nor are its versions, and its space is released", async () => {
    const connection = openConnection(file, 100);
    const store = storeOn(connection);
    for (const [expected, word] of ["old", "new"].entries())
      await store.putRecord({ kind: "k", id: "a", body: `secret ${word} `.repeat(20_000) }, expected);
    await store.putRecord({ kind: "k", id: "b", body: "kept" }, 0);
    const pages = () => connection.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
    const before = pages();
    await store.removeRecord("k", "a", 2);
    expect(pages()).toBeLessThan(before * 0.6);
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    expect(bytes.includes("kept")).toBe(true);
    expect(bytes.includes("secret")).toBe(false);
    await store.close();
  });
});

function storeOn(connection: Connection): Store {
  return createSqliteStore(connection, { busyTimeoutMs: 100, pollMs: 20, now: () => Date.now() });
}

/** A connection with an eye on its statements, which may throw. */
function watched(
  connection: Connection,
  before: (sql: string) => void,
  after: () => void = () => {},
): Connection {
  function around<Result>(sql: string, action: () => Result): Result {
    before(sql);
    const result = action();
    after();
    return result;
  }
  return {
    ...connection,
    get: (sql, ...values) => around(sql, () => connection.get(sql, ...values)),
    all: (sql, ...values) => around(sql, () => connection.all(sql, ...values)),
    run: (sql, ...values) => around(sql, () => connection.run(sql, ...values)),
    exec: (sql) => around(sql, () => connection.exec(sql)),
  };
}

function limit(connection: Connection, room: number): void {
  const pages = connection.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
  connection.exec(`PRAGMA max_page_count = ${pages + room}`);
}

function ioError(): Error {
  return Object.assign(new Error("disk I/O error"), { errcode: 10 });
}

async function held(store: Store, sessionId: string): Promise<Lease> {
  const lease = await store.lease(sessionId, "owner", 60_000);
  if (!lease) throw new Error(`no lease on ${sessionId}`);
  return lease;
}

async function codes(store: Store, sessionId: string): Promise<string[]> {
  const facts = await store.read(sessionId);
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
  return facts.map((fact) =>
    fact.type === "warning" || fact.type === "message" ? (fact.id.split("/")[1] ?? "") : fact.type,
  );
}

function placed(sessionId: string, name: string, body: FactBody): UnplacedFact {
  const runId = `r-${sessionId}`;
  return { ...body, id: `${runId}/${name.slice(0, 10)}`, runId, sessionId, agent: "a", turn: 0, at: 0 };
}

function note(sessionId: string, number: number, message = ""): UnplacedFact {
  return placed(sessionId, `${number}`, { type: "warning", code: `${number}`, message });
}

function spoken(sessionId: string, text: string): UnplacedFact {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const entry = { type: "assistant", parts: [{ type: "text", text }] } as const;
  return placed(sessionId, text, { type: "message", entry, model: "m", usage, ms: 0, stopReason: "end" });
}

function started(sessionId: string): UnplacedFact {
  return placed(sessionId, "start", { type: "run_start", input: [], policy: defaultPolicy, timeZone: "UTC" });
}

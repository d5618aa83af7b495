import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { factVersion, type UnplacedFact } from "../../kernel/event.ts";
import { sqlite } from "./sqlite.ts";

// A store as version 1 of the file has it. It is never edited: files like it are in people's hands.
const version1 = String.raw`
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1128353875;
PRAGMA user_version = 1;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL DEFAULT '',
  facts INTEGER NOT NULL DEFAULT 0,
  created_at REAL NOT NULL DEFAULT 0,
  updated_at REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE facts (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  identity TEXT NOT NULL,
  version INTEGER NOT NULL,
  fact TEXT NOT NULL,
  UNIQUE (session, seq),
  UNIQUE (session, identity)
) STRICT;
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  started_at REAL NOT NULL,
  updated_at REAL NOT NULL
) STRICT;
CREATE INDEX runs_of_session ON runs (session);
CREATE INDEX runs_not_ended ON runs (state) WHERE state <> 'ended';
CREATE TABLE told (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  key TEXT NOT NULL,
  message TEXT,
  UNIQUE (run, key)
) STRICT;
CREATE TABLE leases (
  session TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  token INTEGER NOT NULL,
  until REAL NOT NULL,
  ms REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  handle TEXT NOT NULL,
  media_type TEXT NOT NULL,
  form TEXT NOT NULL,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (session, handle)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(words, tokenize = 'ascii', detail = none);
INSERT INTO counters VALUES ('token', 1);
INSERT INTO sessions VALUES (1, 'trip', 'A café', 7, 1000, 7000);
INSERT INTO facts VALUES (1, 1, 1, 'r1/run_start/r1/run_start', 1, '{"type":"run_start","input":[{"type":"user","content":"Where''s the nearest café?"}],"policy":{},"timeZone":"UTC","id":"r1/run_start","sessionId":"trip","runId":"r1","agent":"guide","turn":1,"at":1000}');
INSERT INTO facts VALUES (2, 1, 2, 'r1/message/r1/message/1', 1, '{"type":"message","entry":{"type":"assistant","parts":[{"type":"text","text":"Two streets north."}]},"model":"m","usage":{"inputTokens":3,"outputTokens":5},"ms":7,"finish":"stop","id":"r1/message/1","sessionId":"trip","runId":"r1","agent":"guide","turn":1,"at":2000}');
INSERT INTO facts VALUES (3, 1, 3, 'r1/done/r1/done', 1, '{"type":"done","status":"done","text":"Two streets north.","usage":{"inputTokens":3,"outputTokens":5},"cost":0.5,"grounded":false,"id":"r1/done","sessionId":"trip","runId":"r1","agent":"guide","turn":1,"at":3000}');
INSERT INTO facts VALUES (4, 1, 4, 'r2/run_start/r2/run_start', 1, '{"type":"run_start","input":[],"policy":{},"timeZone":"UTC","id":"r2/run_start","sessionId":"trip","runId":"r2","agent":"guide","turn":1,"at":4000}');
INSERT INTO facts VALUES (5, 1, 5, 'r2/waiting/r2/waiting/1', 1, '{"type":"waiting","callIds":["c1"],"id":"r2/waiting/1","sessionId":"trip","runId":"r2","agent":"guide","turn":1,"at":5000}');
INSERT INTO facts VALUES (6, 1, 6, '"r2/warning/r2/warning/\ud800"', 1, '{"type":"warning","code":"odd \u0000","message":"\ud800","id":"r2/warning/\ud800","sessionId":"trip","runId":"r2","agent":"guide","turn":1,"at":6000}');
INSERT INTO facts VALUES (7, 1, 7, 'r2/waiting/r2/waiting/2', 1, '{"type":"waiting","callIds":["c1"],"id":"r2/waiting/2","sessionId":"trip","runId":"r2","agent":"guide","turn":1,"at":7000}');
INSERT INTO runs VALUES (1, 'r1', 1, 'guide', 'ended', 1000, 3000);
INSERT INTO runs VALUES (2, 'r2', 1, 'guide', 'waiting', 4000, 7000);
INSERT INTO told VALUES (1, 2, 'k1', NULL);
INSERT INTO told VALUES (2, 2, 'k2', '{"key":"k2","type":"steer","text":"hurry"}');
INSERT INTO leases VALUES ('trip', 'ann', 1, 67000, 60000);
INSERT INTO blobs VALUES (1, 'blob_1', 'text/plain', 'utf8', 7, x'6d656e753a20e29895');
INSERT INTO blobs VALUES (1, 'blob_2', 'image/png', 'bytes', 3, x'8900ff');
INSERT INTO blobs VALUES (1, 'blob_3', 'text/plain', 'utf16le', 1, x'00d8');
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO search (rowid, words) VALUES (1, 'where s the nearest café');
INSERT INTO search (rowid, words) VALUES (2, 'two streets north');
`;

let file = "";
beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), "capstan-sqlite-")), "store.db");
  const database = new DatabaseSync(file);
  database.exec(version1);
  database.close();
});
afterEach(() => rmSync(join(file, ".."), { recursive: true }));

describe("a file of version 1", () => {
  it("is read as it was written (F78)", async () => {
    const store = sqlite(file);
    expect(await store.list()).toEqual([
      { id: "trip", title: "A café", facts: 7, createdAt: 1000, updatedAt: 7000 },
    ]);
    const facts = await store.read("trip");
    const origin = { sessionId: "trip", agent: "guide", turn: 1 };
    expect(facts.map(({ type }) => type)).toEqual([
      ...["run_start", "message", "done", "run_start", "waiting", "warning", "waiting"],
    ]);
    expect(facts[0]).toEqual({
      ...{ ...origin, type: "run_start", runId: "r1", id: "r1/run_start", seq: 1, at: 1000 },
      ...{ input: [{ type: "user", content: "Where's the nearest café?" }], policy: {}, timeZone: "UTC" },
    });
    expect(facts[5]).toEqual({
      ...{ ...origin, type: "warning", runId: "r2", id: "r2/warning/\ud800", seq: 6, at: 6000 },
      ...{ code: "odd \u0000", message: "\ud800" },
    });
    const run = { sessionId: "trip", agent: "guide" };
    const waiting = { ...run, runId: "r2", state: "waiting", startedAt: 4000, updatedAt: 7000 };
    expect(await store.listRuns("trip")).toEqual([
      { ...run, runId: "r1", state: "ended", startedAt: 1000, updatedAt: 3000 },
      waiting,
    ]);
    expect(await store.listOrphans()).toEqual([waiting]);
    expect(await store.listMessages("r2")).toEqual([{ key: "k2", type: "steer", text: "hurry" }]);
    expect(await store.search("café NEAREST")).toEqual([
      { sessionId: "trip", seq: 1, excerpt: "Where's the nearest café?" },
    ]);
    const blobs = await Promise.all([1, 2, 3].map((number) => store.getBlob("trip", `blob_${number}`)));
    expect(blobs.map((blob) => blob?.data)).toEqual(["menu: ☕", new Uint8Array([137, 0, 255]), "\ud800"]);
    expect(await store.measureSession("trip")).toBe(1_219 + 9 + 3 + 2);
    await store.close();
  });

  it("accepts new writes and keeps its data (F78)", async () => {
    const store = sqlite(file);
    const facts = await store.read("trip");
    const lease = await store.lease("trip", "bob", 60_000);
    if (!lease) throw new Error("no lease");
    expect(lease.token).toBe(2);
    const again = facts.map(({ seq: _, ...fact }) => fact as UnplacedFact);
    expect(await store.append(again, { expected: 0, lease })).toEqual(facts);
    await store.sendMessage("r2", { key: "k1", type: "cancel" });
    expect(await store.listMessages("r2")).toHaveLength(1);
    const origin = { runId: "r2", sessionId: "trip", agent: "guide", turn: 1, at: 8000 };
    const next = { type: "warning", code: "c", message: "", id: "r2/warning/c", ...origin } as const;
    expect(await store.append([next], { expected: 7, lease, acknowledged: ["k2"] })).toEqual([
      { ...next, seq: 8 },
    ]);
    expect(await store.listMessages("r2")).toEqual([]);
    expect(await store.putBlob("trip", { mediaType: "a/b", data: "" })).toBe("blob_4");
    await store.remove("trip");
    expect(await store.search("café")).toEqual([]);
    await store.close();
  });

  it("gets a table for records, and everything else stays unchanged (F71, F78)", async () => {
    const store = sqlite(file);
    const before = await store.read("trip");
    expect(await store.listRecords("agent")).toEqual([]);
    const record = await store.putRecord({ kind: "agent", id: "guide", body: { format: 1 } }, 0);
    await store.close();
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    database.close();
    const again = sqlite(file);
    expect(await again.getRecord("agent", "guide")).toEqual(record);
    expect(await again.read("trip")).toEqual(before);
    expect(await again.getBlob("trip", "blob_1")).toMatchObject({ data: "menu: ☕" });
    await again.close();
  });

  it("gets a table for snapshots, and a program that does not know it can still use the file (F71, F78)", async () => {
    const store = sqlite(file);
    const lease = await store.lease("trip", "bob", 60_000);
    if (!lease) throw new Error("no lease");
    await store.putSnapshot({ seq: 7, version: 1, state: "{}" }, lease);
    await store.close();
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
    database.exec("DELETE FROM sessions WHERE id = 'trip'"); // as that program removes a session
    expect(database.prepare("SELECT * FROM snapshots").all()).toEqual([]);
    database.exec("DROP TABLE snapshots");
    database.close();
    const again = sqlite(file);
    expect(await again.getSnapshot("trip")).toBeUndefined();
    await again.close();
  });

  it("gets indexes for the totals of its runs, without which it was written before (F71, F78)", async () => {
    const before = sqlite(file);
    const totals = await before.summarizeRuns({ bucketMs: 3_600_000 });
    expect(totals.total).toMatchObject({ runs: 2, failed: 0 });
    await before.close();
    const database = new DatabaseSync(file);
    const names = ["run_summaries_by_hour", "run_summaries_by_scope_and_hour", "run_summaries_open"];
    database.exec(names.map((name) => `DROP INDEX ${name}`).join(";"));
    const after = sqlite(file);
    expect(await after.summarizeRuns({ bucketMs: 3_600_000 })).toEqual(totals);
    const listed = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'").all();
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    await after.remove("trip");
    expect((await after.summarizeRuns({ bucketMs: 3_600_000 })).total.runs).toBe(0);
    await after.close();
    database.close();
  });

  it("is made new by one, when several open it at once", async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, async () => sqlite(file)));
    await Promise.all(stores.map((store, id) => store.putRecord({ kind: "k", id: `${id}`, body: id }, 0)));
    expect(await stores[0]?.listRecords("k")).toHaveLength(4);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("has the tables of a new file", async () => {
    const fresh = join(file, "..", "fresh.db");
    await sqlite(fresh).close();
    await sqlite(file).close();
    const tables = [file, fresh].map((path) => {
      const database = new DatabaseSync(path);
      const rows = database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
      database.close();
      return rows;
    });
    expect(tables[0]).toEqual(tables[1]);
  });

  it("leaves a run with facts of a later version to others: it is listed, not read and not found (F78)", async () => {
    const database = new DatabaseSync(file);
    database.exec(`UPDATE facts SET version = ${factVersion + 1} WHERE seq >= 4`);
    database.close();
    const store = sqlite(file);
    await expect(store.read("trip")).rejects.toMatchObject({
      code: "newer_version",
      retryable: false,
      message: expect.stringMatching(
        new RegExp(
          `version ${factVersion + 1} were stored by a newer version of Capstan.*Update this process`,
        ),
      ),
    });
    expect(await store.read("trip", 0, 3)).toHaveLength(3);
    expect(await store.list()).toHaveLength(1);
    expect(await store.listOrphans()).toMatchObject([{ runId: "r2", newerVersion: factVersion + 1 }]);
    expect(await store.findRun("r2")).toMatchObject({ newerVersion: factVersion + 1 });
    expect(await store.search("nearest")).toHaveLength(1);
    const later = new DatabaseSync(file);
    later.exec(`UPDATE facts SET version = ${factVersion + 1}`);
    later.close();
    expect(await store.search("nearest")).toEqual([]);
    await store.close();
  });
});

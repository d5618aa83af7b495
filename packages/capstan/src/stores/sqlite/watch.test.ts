import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Store, StoreNotice } from "../../runtime/store.ts";
import { openConnection } from "./connection.ts";
import { sqlite } from "./sqlite.ts";
import { createSqliteStore } from "./sqlite-store.ts";

let folder = "";
let store: Store;
let other: Store;
let looks = 0;
let isBroken = false;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  const file = join(folder, "store.db");
  const connection = openConnection(file, 100);
  const watched: typeof connection = {
    ...connection,
    get(sql, ...values) {
      if (sql === "PRAGMA data_version") looks += 1;
      if (isBroken) throw new Error("disk I/O error");
      return connection.get(sql, ...values);
    },
  };
  [looks, isBroken] = [0, false];
  store = createSqliteStore(watched, { busyTimeoutMs: 100, pollMs: 5, now: () => Date.now() });
  other = sqlite(file);
});
afterEach(async () => {
  await Promise.all([store.close(), other.close()]);
  rmSync(folder, { recursive: true });
});

it("polls the file only while it has watchers", async () => {
  await pause(30);
  expect(looks).toBe(0);
  const stops = ["s1", "s1", "s2"].map((sessionId) => store.watch(sessionId, () => {}));
  await vi.waitFor(() => expect(looks).toBeGreaterThan(3), 30_000);
  for (const stop of stops) stop();
  const before = looks;
  await pause(30);
  expect(looks).toBe(before);
});

it("reports only the session's own changes from another process", async () => {
  const heard: string[] = [];
  for (const sessionId of ["s1", "s2"])
    store.watch(sessionId, (news) => heard.push(`${sessionId} ${news.type}`));
  await begun("s1");
  await vi.waitFor(() => expect(heard).toEqual(["s1 facts"]), 30_000);
  await other.sendMessage("r-s1", { key: "k", type: "cancel" });
  await vi.waitFor(() => expect(heard).toEqual(["s1 facts", "s1 message"]), 30_000);
  await other.remove("s1");
  await vi.waitFor(() => expect(heard).toEqual(["s1 facts", "s1 message", "s1 facts"]), 30_000);
});

it("after a look that failed nothing is missed (F70)", async () => {
  const heard: StoreNotice[] = [];
  isBroken = true;
  store.watch("s1", (news) => heard.push(news));
  await begun("s1");
  await other.sendMessage("r-s1", { key: "k", type: "cancel" });
  const before = looks;
  await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 1), 30_000);
  expect(heard).toEqual([]);
  isBroken = false;
  await vi.waitFor(
    () => expect(heard).toEqual([{ type: "facts" }, { type: "message", runId: "r-s1" }]),
    30_000,
  );
});

it("a listener may stop in the middle of its news, and watch again", async () => {
  const heard: string[] = [];
  const stop = store.watch("s1", (news) => {
    heard.push(news.type);
    stop();
    store.watch("s1", (later) => heard.push(`later ${later.type}`));
  });
  await begun("s1");
  await vi.waitFor(() => expect(heard[0]).toBe("facts"), 30_000);
  await other.sendMessage("r-s1", { key: "k", type: "cancel" });
  await vi.waitFor(() => expect(heard).toContain("later message"), 30_000);
});

async function begun(sessionId: string): Promise<void> {
  const lease = await other.lease(sessionId, "ann", 60_000);
  if (!lease) throw new Error("no lease");
  const origin = { runId: `r-${sessionId}`, sessionId, agent: "a", turn: 0, at: 0, id: "start" };
  const start = { type: "run_start", input: [], policy: {}, timeZone: "UTC", ...origin };
  await other.append([start as never], { expected: 0, lease });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

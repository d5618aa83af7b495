import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "@capstan/server";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { airport } from "./agent.ts";
import { fileBookmarks, getDefaultFolder } from "./bookmarks.ts";
import { loadVenue } from "./load-venue.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-bookmarks-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const venue = await loadVenue();
const getPoiId = (name: string) => venue.places.find(({ aliases }) => aliases.includes(name))?.poiId ?? 0;

async function runCalls(
  calls: readonly { name: string; input?: { [key: string]: number | boolean } }[],
  user?: string,
) {
  const agent = await airport({
    model: scriptedModel([
      { calls: calls.map(({ name, input = {} }) => ({ name, input })) },
      { text: "Done." },
    ]),
    bookmarks: fileBookmarks(folder),
  });
  const { toolCalls } = await run(agent, "Go.", {
    store: memory(),
    ...(user !== undefined && { context: { user } }),
  });
  return toolCalls.map(({ result }) => String(result));
}

describe("bookmarks (S0-52)", () => {
  it("persist across agents", async () => {
    await runCalls([{ name: "bookmark", input: { poiId: getPoiId("D15") } }]);
    const [kept] = await runCalls([{ name: "getBookmarks" }]);
    expect(kept).toContain("Gate D15");
  });

  it("can be removed, and are stored once however often they are set", async () => {
    const set = { name: "bookmark", input: { poiId: getPoiId("D15") } };
    await runCalls([set, set, { name: "bookmark", input: { poiId: getPoiId("A3") } }]);
    await runCalls([{ name: "bookmark", input: { poiId: getPoiId("D15"), remove: true } }]);
    const [kept] = await runCalls([{ name: "getBookmarks" }]);
    expect(kept).toContain("Gate A3");
    expect(kept).not.toContain("Gate D15");
  });

  it("are cleared only after approval", async () => {
    await runCalls([{ name: "bookmark", input: { poiId: getPoiId("D15") } }]);
    const agent = await airport({
      model: scriptedModel([{ calls: [{ name: "clearBookmarks", input: {} }] }, { text: "Done." }]),
      bookmarks: fileBookmarks(folder),
    });
    const running = run(agent, "Go.", { store: memory() });
    const waiting = await running;
    const pending = waiting.status === "waiting" ? waiting.pending : [];
    expect(pending).toHaveLength(1);
    expect((await runCalls([{ name: "getBookmarks" }]))[0]).toContain("Gate D15");
    for (const { callId } of pending) running.approve(callId);
    const { toolCalls } = await running;
    expect(String(toolCalls[0]?.result)).toContain("1 bookmark is removed.");
    expect((await runCalls([{ name: "getBookmarks" }]))[0]).toContain("There are no bookmarks");
  });

  it("are separate for each user", async () => {
    await runCalls([{ name: "bookmark", input: { poiId: getPoiId("D15") } }], "ada");
    const [other] = await runCalls([{ name: "getBookmarks" }], "bob");
    expect(other).not.toContain("Gate D15");
    const [own] = await runCalls([{ name: "getBookmarks" }], "ada");
    expect(own).toContain("Gate D15");
  });

  it("survive concurrent updates and leave no temporary file behind", async () => {
    const bookmarks = fileBookmarks(folder);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => bookmarks.update("ada", (kept) => [...kept, `place ${n}`])),
    );
    expect(await bookmarks.list("ada")).toHaveLength(20);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("in a corrupt file fail with an error that names the file; updates for other users still work", async () => {
    const bookmarks = fileBookmarks(folder);
    await bookmarks.update("ada", () => ["x"]);
    const [file = ""] = readdirSync(folder);
    writeFileSync(join(folder, file), "{");
    await expect(bookmarks.update("ada", (kept) => kept)).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining(file),
    });
    await bookmarks.update("bob", () => ["y"]);
    expect(await bookmarks.list("bob")).toEqual(["y"]);
  });

  it("are stored in the data folder", () => {
    const before = process.env.CAPSTAN_HOME;
    process.env.CAPSTAN_HOME = folder;
    try {
      expect(getDefaultFolder()).toBe(join(folder, "airport"));
    } finally {
      if (before === undefined) delete process.env.CAPSTAN_HOME;
      else process.env.CAPSTAN_HOME = before;
    }
  });
});

describe("bookmarks of several users", () => {
  it("are readable only by the owner on disk", async () => {
    const inside = join(folder, "data");
    await fileBookmarks(inside).update("ada", () => ["x"]);
    expect(statSync(inside).mode & 0o777).toBe(0o700);
    const [file = ""] = readdirSync(inside);
    expect(statSync(join(inside, file)).mode & 0o777).toBe(0o600);
  });

  it("are refused to a run without a user rather than shared by all users (A84)", async () => {
    const agent = await airport({
      model: scriptedModel([{ calls: [{ name: "getBookmarks", input: {} }] }, { text: "Done." }]),
      bookmarks: fileBookmarks(folder),
    });
    const { toolCalls } = await run(agent, "Go.", { store: memory(), context: { tenant: "a" } });
    expect(toolCalls[0]).toMatchObject({ status: "error" });
  });

  it("are separate for each API key on a server (A84)", async () => {
    const model = scriptedModel(({ history }) => {
      const last = history.at(-1);
      if (last?.type !== "user") return { text: "Done." };
      return String(last.content).includes("keep")
        ? { calls: [{ name: "bookmark", input: { poiId: getPoiId("D15") } }] }
        : { calls: [{ name: "getBookmarks", input: {} }] };
    });
    const server = createServer({
      agents: [await airport({ model, bookmarks: fileBookmarks(folder) })],
      store: memory(),
    });
    const secrets = await Promise.all(["ada", "bob"].map((user) => server.keys.create({ user })));
    const [ada, bob] = secrets.map(({ secret }) => async (content: string) => {
      const request = new Request("http://127.0.0.1/api/chat", {
        method: "POST",
        headers: {
          ...{ host: "127.0.0.1", "content-type": "application/json" },
          authorization: `Bearer ${secret}`,
        },
        body: JSON.stringify({ messages: [{ role: "user", content }] }),
      });
      return (await server.fetch(request)).text();
    });
    expect(await ada?.("keep it")).toContain("is bookmarked");
    expect(await ada?.("list")).toContain("1 bookmarked");
    expect(await bob?.("list")).toContain("There are no bookmarks");
    await server.close(0);
  });
});

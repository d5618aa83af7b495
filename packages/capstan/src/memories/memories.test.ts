import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { memory } from "../stores/memory.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";
import { listMemories, loadMemory, removeMemories, removeMemory, saveMemory } from "./memories.ts";

const owner = { user: "ada", scope: "user" };
const path = "/memories/notes.md";
const note = { path, text: "Canary in the café", provenance: "user" } as const;

const folder = mkdtempSync(join(tmpdir(), "capstan-memories-"));
afterAll(() => rmSync(folder, { recursive: true }));

const findCanary = () =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes("Canary"));

describe("memories", () => {
  it("are found by beginnings of words in their texts and paths, in all scopes of one user", async () => {
    const store = memory();
    await saveMemory(store, owner, { ...note, version: 0, now: 1 });
    await saveMemory(store, { ...owner, scope: "project:x" }, { ...note, text: "Else", version: 0, now: 2 });
    await saveMemory(store, { ...owner, user: "bob" }, { ...note, version: 0, now: 3 });
    const find = async (query: string, scope?: string) =>
      (await listMemories(store, "ada", { query, scope })).map((found) => found.scope);
    expect(await find("CAFE can")).toEqual(["user"]);
    expect(await find("notes")).toEqual(["project:x", "user"]);
    expect(await find("notes", "user")).toEqual(["user"]);
    expect(await find("afé")).toEqual([]);
    expect(await find("!?")).toEqual([]);
    expect(await find("")).toEqual(["project:x", "user"]);
    expect(await listMemories(store, "ada", { limit: 1 })).toHaveLength(1);
  });

  it("leave nothing behind in the database when they are deleted", async () => {
    const store = sqlite(join(folder, "store.db"));
    await saveMemory(store, owner, { ...note, version: 0, now: 1 });
    await saveMemory(store, owner, { ...note, text: "Canary again", version: 1, now: 2 });
    expect(findCanary()).not.toEqual([]);
    await removeMemory(store, owner, { path, now: 3 });
    expect(await store.listRecordVersions("memory:ada", "user")).toEqual([]);
    await saveMemory(store, { ...owner, scope: "agent:a" }, { ...note, version: 0, now: 4 });
    expect(await removeMemories(store, "ada")).toBe(1);
    expect(await store.listRecords("memory:ada")).toEqual([]);
    await store.close();
    expect(findCanary()).toEqual([]);
  });

  it("are not overwritten by the editor of a memory that was deleted and written anew", async () => {
    const store = memory();
    const save = (path: string, version: number) =>
      saveMemory(store, owner, { ...note, path, version, now: 1 });
    const { version } = await save(path, 0);
    await save("/memories/other.md", 0);
    await removeMemory(store, owner, { path, now: 1 });
    await save(path, 0);
    await expect(save(path, version)).rejects.toMatchObject({ code: "position_conflict" });
  });

  it("keep only the newest version of a text, also while others exist", async () => {
    const store = memory();
    await saveMemory(store, owner, { ...note, version: 0, now: 1 });
    await saveMemory(store, owner, { ...note, text: "Second", version: 1, now: 2 });
    expect(JSON.stringify(await store.listRecordVersions("memory:ada", "user"))).not.toContain("Canary");
    expect(await loadMemory(store, owner, path)).toMatchObject({ version: 2, createdAt: 1, updatedAt: 2 });
  });

  it.each([
    "",
    "users",
    "agent:",
    "agent: ",
    "memory:ada",
    `project:${"x".repeat(200)}`,
    "agent:a\u0000b",
  ])("have no scope %j", async (scope) => {
    const saved = saveMemory(memory(), { user: "ada", scope }, { ...note, version: 0, now: 1 });
    await expect(saved).rejects.toMatchObject({ code: "invalid_input" });
  });
});

import { join } from "node:path";
import { changeMemories } from "capstan/memories";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../../testing/cli-process.ts";

let project: ScratchProject;
const call = (...words: string[]) => runCli(words, project);
beforeAll(() => {
  project = createScratchProject();
});
afterAll(() => project.remove());

/** Stores a memory of a user of the server, with an escape sequence. */
async function rememberOfUser(user: string): Promise<void> {
  const store = sqlite(join(project.folder, ".data", "capstan.db"));
  const memory = { path: "/memories/x.md", text: "\u001b[31mred", provenance: "external" } as const;
  await changeMemories(store, { user, scope: "user" }, { change: () => [memory], now: Date.now() });
  await store.close();
}

describe("capstan memory", () => {
  it("remembers in one session and answers in the next, with the offline model", async () => {
    const saved = await call("-p", "Remember that my dog is called Rex.", "--tools", "memory");
    expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining("edited") });
    const asked = await call("-p", "What do you remember about my dog?", "--tools", "memory");
    expect(asked.stdout).toContain("my dog is called Rex");
  });

  it("lists, finds, shows and deletes memories", async () => {
    expect((await call("memory")).stdout).toMatch(
      /PATH +.*WRITTEN BY[\s\S]*\/memories\/notes\.md .*operator/,
    );
    expect((await call("memory", "list", "rex", "--json")).stdout).toContain('"path": "/memories/notes.md"');
    expect((await call("memory", "list", "cat")).stderr).toBe("No memories.\n");
    expect((await call("memory", "show", "/memories/notes.md")).stdout).toBe("my dog is called Rex\n");
    expect(await call("memory", "show", "/memories/../x")).toMatchObject({ code: 2 });
    expect(await call("memory", "delete", "/memories/notes.md")).toMatchObject({ code: 2 });
    expect(await call("memory", "delete")).toMatchObject({ code: 2 });
    expect((await call("memory", "delete", "/memories/notes.md", "--yes")).stderr).toContain("Deleted");
    expect((await call("memory")).stderr).toBe("No memories.\n");
  });

  it("deletes the memories with everything else of a user, and those of no other", async () => {
    await rememberOfUser("ada");
    await rememberOfUser("bob");
    expect((await call("memory", "list", "--user", "ada")).stdout).not.toContain("\u001b[31m");
    const dry = await call("sessions", "prune", "--user", "ada", "--dry-run");
    expect(dry.stderr).toContain("Memories of ada to delete: 1.");
    await call("sessions", "prune", "--user", "ada", "--older-than", "1d", "--yes");
    expect((await call("memory", "list", "--user", "ada", "--json")).stdout).toContain("/memories/x.md");
    await call("sessions", "prune", "--user", "ada", "--yes");
    expect((await call("memory", "list", "--user", "ada")).stderr).toBe("No memories.\n");
    expect((await call("memory", "delete", "--all", "--user", "bob", "--yes")).stderr).toBe(
      "Deleted 1 memory.\n",
    );
  });
});

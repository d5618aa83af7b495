import { type Agent, defineAgent, type Result, run, type Store, type Tool } from "capstan";
import { loadMemories } from "capstan/memories";
import { anthropic } from "capstan/models/anthropic";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import type { MemoryInput } from "./memory/memory-command.ts";
import { type MemoryToolsOptions, memoryTools } from "./memory-tools.ts";

const path = "/memories/notes.md";

/** Makes one call per message, in a new session each time, and returns the result. */
function createUser(store: Store, options: MemoryToolsOptions = { scope: "user" }, name = "helper") {
  const tools = memoryTools(options);
  return async (
    input: MemoryInput | { readonly query?: string } | { readonly summary: string },
    session?: string,
  ) => {
    const tool = "command" in input ? "memory" : "summary" in input ? "save_summary" : "search_memory";
    const model = scriptedModel([{ calls: [{ name: tool, input: { ...input } }] }, { text: "Done." }]);
    const agent = defineAgent({ name, model, tools });
    return getOutcome(await run(agent, "Go.", { store, ...(session !== undefined && { session }) }));
  };
}

function getOutcome({ toolCalls: [call] }: Result): string {
  return `${call?.status === "ok" ? "" : "error: "}${String(call?.result)}`;
}

describe("the memory tool", () => {
  it("keeps files across sessions, with the commands and answers of Anthropic's memory tool", async () => {
    const call = createUser(memory());
    expect(await call({ command: "view", path: "/memories" })).toBe(
      "Here are the files and directories up to 2 levels deep in /memories:\n0\t/memories",
    );
    const text = "Rex is a dog.\nLikes tea.\n";
    expect(await call({ command: "create", path, file_text: text })).toBe(
      `File created successfully at: ${path}`,
    );
    expect(await call({ command: "create", path, file_text: "" })).toMatch(/^error: .*already exists/);
    expect(await call({ command: "str_replace", path, old_str: "tea", new_str: "coffee" })).toContain(
      "edited",
    );
    expect(await call({ command: "str_replace", path, old_str: "tea", new_str: "" })).toMatch(
      /error: .*does not occur/,
    );
    expect(await call({ command: "str_replace", path, old_str: "e", new_str: "" })).toMatch(
      /error: .*occurs \d times/,
    );
    expect(
      await call({ command: "insert", path, insert_line: 1, insert_text: "Lives in Oslo.\n" }),
    ).toContain("edited");
    expect(await call({ command: "insert", path, insert_line: 9, insert_text: "x" })).toMatch(
      /error: .*use 0 to 3/,
    );
    expect(await call({ command: "view", path })).toBe(
      `Here's the content of ${path} with line numbers:\n     1\tRex is a dog.\n     2\tLives in Oslo.\n     3\tLikes coffee.`,
    );
    expect(await call({ command: "view", path, view_range: [2, 2] })).toContain("\n     2\tLives in Oslo.");
    expect(await call({ command: "rename", old_path: path, new_path: "/memories/people/rex.md" })).toContain(
      "renamed",
    );
    expect(
      await call({ command: "rename", old_path: "/memories/people", new_path: "/memories/pets" }),
    ).toContain("renamed");
    expect(await call({ command: "view", path: "/memories" })).toContain("43\t/memories/pets/rex.md");
    expect(await call({ command: "delete", path: "/memories/pets" })).toBe(
      "Successfully deleted /memories/pets",
    );
    expect(await call({ command: "view", path: "/memories/pets" })).toMatch(/^error: There is no memory at/);
  });

  it("says which argument a command lacks, and that a file is no folder", async () => {
    const call = createUser(memory());
    expect(await call({ command: "create", path })).toBe("error: The command needs `file_text`.");
    await call({ command: "create", path, file_text: "x" });
    const below = await call({ command: "create", path: `${path}/more.md`, file_text: "x" });
    expect(below).toContain(`${path} is a memory, so ${path}/more.md cannot be below it`);
    expect(await call({ command: "rename", old_path: path, new_path: path })).toMatch(
      /error: The destination/,
    );
    expect(await call({ command: "delete", path: "/memories" })).toMatch(/error: .*folder of all memories/);
  });

  it("finds memories by beginnings of words, regardless of case and accents", async () => {
    const call = createUser(memory());
    await call({ command: "create", path, file_text: "Orders a Café crème every morning." });
    expect(await call({ query: "CREME caf" })).toBe(`${path}: Orders a Café crème every morning.`);
    expect(await call({ query: "tea" })).toBe("Nothing about this is remembered.");
    expect(await call({})).toContain(path);
  });

  it("keeps one summary per session, and only the newest ones", async () => {
    const store = memory();
    const call = createUser(store, { scope: "user", summarize: true });
    await call({ summary: "First." }, "s0");
    expect(await call({ summary: "Second." }, "s0")).toBe("The summary is saved.");
    for (let index = 1; index <= 50; index++) await call({ summary: `Number ${index}.` }, `s${index}`);
    const kept = await loadMemories(store, { user: "", scope: "user" });
    expect(kept).toHaveLength(50);
    expect(kept.map(({ text }) => text)).not.toContain("First.");
  });

  it.each([
    [{}, "scope"],
    [{ scope: "everyone" }, "scope"],
    [{ scope: { project: " " } }, "scope"],
    [{ scope: "user", summary: true }, 'Unknown option "summary"'],
  ])("refuses the options %j", (options, problem) => {
    expect(() => memoryTools(options as MemoryToolsOptions)).toThrow(problem);
  });
});

describe("the scope", () => {
  it("separates users, agents and projects", async () => {
    const store = memory();
    const save = (scope: MemoryToolsOptions["scope"], agent: string, session: string) =>
      createUser(store, { scope }, agent)({ command: "create", path, file_text: "Mine." }, session);
    for (const user of ["ada~1", "bob~1"])
      for (const agent of ["writer", "reader"])
        for (const scope of ["agent", { project: agent }] as const)
          expect(await save(scope, agent, `${user}${agent}`)).toContain("created");
    expect(await save("user", "writer", "ada~2")).toContain("created");
    expect(await save("user", "reader", "ada~3")).toContain("already exists");
    const owned = { user: "ada", scope: "agent:writer" };
    expect(await loadMemories(store, owned)).toMatchObject([{ path, provenance: "operator", version: 1 }]);
  });
});

describe("in a request to Anthropic", () => {
  type Sent = { readonly tools: readonly { readonly type?: string; readonly name: string }[] };
  async function sendWith(model: string, baseURL?: string): Promise<Sent["tools"]> {
    let sent: Sent | undefined;
    const fetch: typeof globalThis.fetch = async (_, init) => {
      sent = JSON.parse(String(init?.body));
      return new Response("{}", { status: 400 });
    };
    const client = anthropic({ model, apiKey: "key", fetch, ...(baseURL !== undefined && { baseURL }) });
    const agent: Agent = defineAgent({
      name: "a",
      model: client,
      tools: memoryTools({ scope: "user" }) as Tool[],
    });
    await run(agent, "Hi.");
    return sent?.tools ?? [];
  }

  it("the tool is Claude's own, and an ordinary one for older and other models", async () => {
    expect((await sendWith("claude-sonnet-4-5")).find(({ name }) => name === "memory")).toEqual({
      type: "memory_20250818",
      name: "memory",
    });
    for (const model of ["claude-3-haiku-20240307", "deepseek-chat"])
      expect((await sendWith(model)).find(({ name }) => name === "memory")).toMatchObject({
        name: "memory",
        description: expect.stringContaining("str_replace"),
        input_schema: { required: ["command"] },
      });
  });
});

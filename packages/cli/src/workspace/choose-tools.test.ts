import { PassThrough } from "node:stream";
import { defineAgent, hostedTools, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createScratchProject, type ScratchProject } from "../testing/cli-process.ts";
import { loadConfiguredTools } from "./choose-tools.ts";
import { createAgents } from "./create-agents.ts";
import { openWorkspace, type WorkspaceFlags } from "./workspace.ts";

let project: ScratchProject;
const line = 'def load_settings(path="data/settings.json"): pass';
beforeEach(() => {
  project = createScratchProject({
    "example.py": line,
    "downloads/example.py": line,
  });
});
afterEach(() => project.remove());

/** Reads a file and then edits it, as far as it can without the user. */
async function readAndEdit(path: string) {
  const { folder, env } = project;
  const model = scriptedModel([
    { calls: [{ name: "read_file", input: { path } }] },
    { calls: [{ name: "edit_file", input: { path, edits: [{ find: line, replace: `${line} # TODO` }] } }] },
  ]);
  const tools = await loadConfiguredTools({ config: { tools: ["files"] }, mcp: undefined, folder, env });
  const { pending } = await run(defineAgent({ name: "assistant", model, tools }), "Edit it.");
  return pending;
}

describe("the file tools of the default agent", () => {
  it("let the user allow edits of their own file for the whole session", async () => {
    const pending = await readAndEdit("example.py");
    expect(pending).toMatchObject([{ name: "edit_file", always: { target: "example.py" } }]);
    expect(pending[0]).not.toHaveProperty("because");
    expect(pending[0]?.reason).toBe(
      'Changes the file "example.py": files are changed only with your approval.',
    );
  });

  it("warn after a downloaded file was read (A101)", async () => {
    const pending = await readAndEdit("downloads/example.py");
    expect(pending).toMatchObject([{ name: "edit_file", because: [{ tool: "read_file" }, {}] }]);
  });

  it("count all files as untrusted in a folder whose config the user does not trust (A101)", async () => {
    project.write(".mcp.json", '{"mcpServers": {}}');
    const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    const getReads = async (flags: WorkspaceFlags) => {
      const workspace = await openWorkspace(flags, { ...io, env: project.env, cwd: project.folder });
      await workspace.close();
      return workspace.agent.tools.get("read_file")?.reads;
    };
    expect(await getReads({ isScript: true })).toEqual(["private", "untrusted"]);
    expect(await getReads({ isScript: true, trust: true })).toEqual(["private"]);
  });
});

it("the shell and web search are there only if they are asked for or have a key", async () => {
  const { folder, env } = project;
  const load = async (tools?: readonly ("files" | "web" | "shell")[]) =>
    (await loadConfiguredTools({ config: tools ? { tools } : {}, mcp: undefined, folder, env })).map(
      ({ name }) => name,
    );
  vi.stubEnv("BRAVE_API_KEY", "");
  expect(await load()).not.toContain("shell");
  expect(await load(["web"])).toEqual(["web_fetch"]);
  expect(await load(["shell"])).toEqual(["shell"]);
  vi.stubEnv("BRAVE_API_KEY", "k");
  expect(await load(["web"])).toEqual(["web_fetch", "web_search"]);
  vi.unstubAllEnvs();
});

it("--tools also chooses among the hosted tools of an agent", async () => {
  const tools = [hostedTools.webSearch(), hostedTools.codeExecution()];
  const config = { agents: [defineAgent({ name: "a", model: "openai/gpt-5-mini", tools })] };
  const context = { config, mcp: undefined, folder: project.folder, env: project.env };
  const listHosted = async (flags: WorkspaceFlags) =>
    (await createAgents(flags, context)).agent.hosted?.map(({ kind }) => kind);
  expect(await listHosted({})).toEqual(["webSearch", "codeExecution"]);
  expect(await listHosted({ tools: "web_search" })).toEqual(["webSearch"]);
  expect(await listHosted({ tools: "none" })).toEqual([]);
});

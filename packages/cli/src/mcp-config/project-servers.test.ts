import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { openServerInstance } from "../serve/server-instance.ts";
import { watchFiles } from "../serve/watch-files.ts";
import { createScratchProject } from "../testing/cli-process.ts";

const script = fileURLToPath(new URL("../../../server/src/testing/hostile-mcp-server.ts", import.meta.url));
const program = { command: process.execPath, args: [script] };

function createProject(files: Record<string, string> = {}) {
  const config = `export default { agents: [] };`;
  const project = createScratchProject({ "capstan.config.mjs": config, ...files });
  onTestFinished(project.remove);
  const stderr = new PassThrough();
  const io = {
    ...{ stdin: new PassThrough(), stdout: new PassThrough(), stderr },
    ...{ env: project.env, cwd: project.folder },
  };
  return { io, path: join(project.folder, ".mcp.json") };
}

type Project = ReturnType<typeof createProject>;

async function openServer({ io }: Project, flags: { trust?: boolean; mcpCommands?: boolean }) {
  const instance = await openServerInstance({ flags, io, changesMcp: true });
  onTestFinished(() => instance.close(0));
  const send = async (method: string, path: string, body?: object) => {
    const response = await instance.server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        ...{ method, headers: { host: "127.0.0.1", "content-type": "application/json" } },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, ...(await response.json()) };
  };
  return { instance, send };
}

it("a server that is added in the studio is in .mcp.json, and runs again after a restart (S4-43)", async () => {
  const project = createProject();
  const first = await openServer(project, { trust: true, mcpCommands: true });
  expect(await first.send("GET", "/api/mcp-servers")).toMatchObject({ servers: [] });
  const added = await first.send("POST", "/api/mcp-servers", { name: "notes", config: program });
  expect(added.servers).toMatchObject([{ name: "notes", state: "ready", canRemove: true }]);
  const parts = first.instance.workspace.agent.toolSource?.().map(({ name }) => name);
  expect(parts, "its tools reach the agents at once").toContain("mcp_notes_echo");
  expect(JSON.parse(readFileSync(project.path, "utf8"))).toEqual({ mcpServers: { notes: program } });
  await first.instance.close(0);
  const second = await openServer(project, {});
  expect((await second.send("GET", "/api/mcp-servers")).servers).toMatchObject([
    { name: "notes", state: "ready", canRemove: true },
  ]);
  expect((await second.send("DELETE", "/api/mcp-servers/notes")).servers).toEqual([]);
  expect(JSON.parse(readFileSync(project.path, "utf8"))).toEqual({ mcpServers: {} });
});

it("programs need --mcp-commands, and a file that others changed is not extended (A47, A135)", async () => {
  const project = createProject({ ".mcp.json": `{ "mcpServers": {} }` });
  const { send } = await openServer(project, { trust: true });
  const refused = await send("POST", "/api/mcp-servers", { name: "notes", config: program });
  expect([refused.status, refused.error.message]).toEqual([403, expect.stringContaining("--mcp-commands")]);
  writeFileSync(project.path, `{ "mcpServers": { "planted": { "command": "true" } } }`);
  const config = { url: "http://127.0.0.1:1/mcp" };
  const untrusted = await send("POST", "/api/mcp-servers", { name: "web", config });
  expect([untrusted.status, untrusted.error.message]).toEqual([400, expect.stringContaining("--trust")]);
  expect(readFileSync(project.path, "utf8")).not.toContain("web");
  expect((await send("GET", "/api/mcp-servers")).servers).toEqual([]);
});

it("a change that the process made itself does not reload it", async () => {
  const project = createProject({ ".mcp.json": "{}" });
  const changes: (readonly string[])[] = [];
  const watch = watchFiles((files) => void changes.push(files));
  onTestFinished(() => watch.close());
  watch.add([project.path]);
  writeFileSync(project.path, `{ "mcpServers": {} }`);
  watch.accept([project.path]);
  const other = join(project.path, "..", "other.json");
  watch.add([other]);
  writeFileSync(other, "{}");
  await expect.poll(() => changes).toEqual([[other]]);
});

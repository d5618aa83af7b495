import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkClients } from "../commands/doctor/check-clients.ts";
import { processIo } from "../io.ts";
import { runCli } from "../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject } from "../testing/cli-process.ts";
import { parseJsonc } from "./jsonc.ts";
import { type McpClientName, mcpClientNames, mcpClients } from "./mcp-clients.ts";

const scripted = `
import { defineConfig } from "@capstan/cli";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
const model = scriptedModel(() => ({ text: \`I work in \${process.cwd()}.\` }));
export default defineConfig({ agents: [defineAgent({ name: "other", model }), defineAgent({ name: "helper", model })] });
`;

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

const getFile = (client: McpClientName) =>
  mcpClients[client].getFile({ platform: process.platform, env: project.env });
const read = (client: McpClientName) => readFileSync(getFile(client), "utf8");
const install = (...words: string[]) => runCli(["mcp", "install", ...words], project);

type Section = Readonly<
  Record<
    string,
    { readonly command: string; readonly args: readonly string[]; readonly env: Record<string, string> }
  >
>;

function readServers(client: McpClientName): Section {
  const content = parseJsonc(read(client)) as Readonly<Record<string, Section>>;
  return content[mcpClients[client].section] ?? {};
}

function write(client: McpClientName, text: string): void {
  mkdirSync(dirname(getFile(client)), { recursive: true });
  writeFileSync(getFile(client), text);
}

describe("the file of a client", () => {
  const home = { HOME: "/home/ada" };
  const windows = { USERPROFILE: "C:\\Users\\Ada", APPDATA: "C:\\Users\\Ada\\AppData\\Roaming" };
  it.each<[McpClientName, NodeJS.Platform, Record<string, string>, string]>([
    ["claude-code", "linux", home, "/home/ada/.claude.json"],
    ["claude-code", "linux", { ...home, CLAUDE_CONFIG_DIR: "/work/claude" }, "/work/claude/.claude.json"],
    ["claude-code", "win32", windows, "C:\\Users\\Ada\\.claude.json"],
    [
      "claude-desktop",
      "darwin",
      home,
      "/home/ada/Library/Application Support/Claude/claude_desktop_config.json",
    ],
    [
      "claude-desktop",
      "win32",
      windows,
      "C:\\Users\\Ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    ],
    ["claude-desktop", "linux", home, "/home/ada/.config/Claude/claude_desktop_config.json"],
    ["vscode", "darwin", home, "/home/ada/Library/Application Support/Code/User/mcp.json"],
    ["vscode", "win32", windows, "C:\\Users\\Ada\\AppData\\Roaming\\Code\\User\\mcp.json"],
    ["vscode", "linux", { ...home, XDG_CONFIG_HOME: "/cfg" }, "/cfg/Code/User/mcp.json"],
    ["cursor", "darwin", home, "/home/ada/.cursor/mcp.json"],
    ["cursor", "win32", windows, "C:\\Users\\Ada\\.cursor\\mcp.json"],
    ["zed", "darwin", { ...home, XDG_CONFIG_HOME: "/cfg" }, "/home/ada/.config/zed/settings.json"],
    ["zed", "linux", { ...home, XDG_CONFIG_HOME: "/cfg" }, "/cfg/zed/settings.json"],
    ["zed", "win32", windows, "C:\\Users\\Ada\\AppData\\Roaming\\Zed\\settings.json"],
  ])("of %s on %s with %j is %s", (client, platform, env, file) => {
    expect(mcpClients[client].getFile({ platform, env })).toBe(file);
  });
});

describe("capstan mcp install", () => {
  it("starts the agents of its folder from any other one, for a real client (S4-54)", async () => {
    project.write("capstan.config.ts", scripted);
    const { code, stdout } = await install("cursor", "--agent", "helper", "--trust");
    expect(code).toBe(0);
    expect(stdout).toContain(`+         "${project.folder}"`);
    const { command, args, env } = readServers("cursor").capstan ?? { command: "", args: [], env: {} };
    const elsewhere = mkdtempSync(join(tmpdir(), "capstan-elsewhere-"));
    const client = new Client({ name: "test", version: "1" });
    try {
      await client.connect(
        new StdioClientTransport({ command, args: [...args], env, cwd: elsewhere, stderr: "ignore" }),
      );
      const result = await client.callTool({ name: "query", arguments: { prompt: "Where?" } });
      expect(result.structuredContent).toMatchObject({
        status: "done",
        answer: `I work in ${project.folder}.`,
      });
      expect((await client.listTools()).tools[0]?.description).toContain('"helper", "other"');
    } finally {
      await client.close();
      rmSync(elsewhere, { recursive: true });
    }
  });

  it("writes the format of each client, prints the same without writing, and can be repeated and undone", async () => {
    for (const client of mcpClientNames) {
      const printed = await install("--print", client);
      expect(existsSync(getFile(client))).toBe(false);
      expect(printed.stderr).toContain(getFile(client));
      expect(await install(client)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("Added capstan to"),
      });
      const text = read(client);
      expect(JSON.parse(text)).toEqual(JSON.parse(printed.stdout));
      expect(await install(client)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("is up to date"),
      });
      expect(read(client)).toBe(text);
      expect((await runCli(["mcp", "uninstall", client], project)).code).toBe(0);
      expect(readServers(client)).toEqual({});
    }
    expect(Object.keys(mcpClients)).toEqual(["claude-code", "claude-desktop", "vscode", "cursor", "zed"]);
  });

  it("keeps comments, other servers, and a link to the file", async () => {
    const settings =
      '// Zed settings\n{\n  "context_servers": {\n    "notes": { "command": "notes" }, // mine\n  },\n}\n';
    project.write("dotfiles/settings.json", settings);
    mkdirSync(dirname(getFile("zed")), { recursive: true });
    symlinkSync(join(project.folder, "dotfiles/settings.json"), getFile("zed"));
    expect((await install("zed")).code).toBe(0);
    const changed = readFileSync(join(project.folder, "dotfiles/settings.json"), "utf8");
    expect(changed).toMatch(/^\/\/ Zed settings\n[\s\S]*\/\/ mine\n {4}"capstan": \{/);
    expect(Object.keys(readServers("zed"))).toEqual(["notes", "capstan"]);
    await runCli(["mcp", "uninstall", "zed"], project);
    expect(read("zed")).toBe(settings);
  });

  it("changes no server that it did not add, unless forced, and no file that it cannot read", async () => {
    const own = '{"mcpServers": {"capstan": {"command": "mine"}}}';
    write("claude-desktop", own);
    const refused = await install("claude-desktop");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Choose another --name") });
    expect(await runCli(["mcp", "uninstall", "claude-desktop"], project)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("was not added by capstan mcp install"),
    });
    expect(read("claude-desktop")).toBe(own);
    expect((await install("claude-desktop", "--force")).code).toBe(0);
    const elsewhere = join(project.folder, "other");
    mkdirSync(elsewhere);
    const other = await runCli(["mcp", "install", "claude-desktop"], project, { cwd: elsewhere });
    expect(other.stderr).toContain(`already has a server "capstan" for ${project.folder}`);
    const broken = '{"mcpServers": {"key": "hush"';
    write("claude-code", broken);
    const { code, stderr } = await install("claude-code");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/is not valid JSON \(line 1, column \d+\)\. Fix it, or add the output of --print/);
    expect(stderr).not.toContain("hush");
    expect(read("claude-code")).toBe(broken);
  });

  it("stores a key only on request, does not show it, and says so", async () => {
    const shell = { ...project, env: { ...project.env, OPENAI_API_KEY: "sk-hush" } };
    const plain = await runCli(["mcp", "install", "vscode"], shell);
    expect(plain.stderr).toContain("do not have OPENAI_API_KEY");
    expect(read("vscode")).not.toContain("sk-hush");
    const stored = await runCli(["mcp", "install", "vscode", "-e", "OPENAI_API_KEY"], shell);
    expect(`${stored.stdout}${stored.stderr}`).not.toContain("sk-hush");
    expect(stored.stderr).toContain("in plain text");
    expect(readServers("vscode").capstan?.env).toMatchObject({ OPENAI_API_KEY: "sk-hush" });
    expect((await install("vscode", "-e", "NO_SUCH")).stderr).toContain("NO_SUCH is not set in this shell");
  });

  it("refuses an untrusted config, and a name of no client", async () => {
    project.write("capstan.config.ts", scripted);
    expect((await install("cursor")).stderr).toContain("is not trusted");
    expect(existsSync(getFile("cursor"))).toBe(false);
    expect((await install("emacs")).stderr).toContain("claude-code, claude-desktop, vscode, cursor, zed");
    expect((await install()).stderr).toContain("Name a client: claude-code");
  });
});

describe("the check of the doctor", () => {
  it("starts what is installed, and names a path that is gone", async () => {
    const check = () => checkClients({ ...processIo, env: project.env, cwd: project.folder });
    expect(await check()).toMatchObject([{ what: "MCP clients", state: "ok" }]);
    await install("zed");
    expect(await check()).toEqual([
      {
        what: "MCP client Zed",
        state: "ok",
        says: `capstan in ${getFile("zed")} starts and offers query, resume`,
      },
    ]);
    write("zed", read("zed").replaceAll(`"${project.folder}"`, '"/no/such/folder"'));
    expect(await check()).toMatchObject([
      {
        state: "broken",
        says: expect.stringContaining("/no/such/folder does not exist"),
        advice: expect.stringContaining("capstan mcp install zed"),
      },
    ]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Command } from "commander";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exitCodes } from "../exit-code.ts";
import { createScratchProject, type ScratchProject } from "../testing/cli-process.ts";
import { checkTrust, trustFile } from "../trust/trust.ts";
import { addMcp } from "./add-mcp.ts";
import { describeServer, parseServer } from "./parse-server.ts";

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
});
afterEach(() => project.remove());

/** What is said on stdout and stderr. Rejects as the command does. */
async function mcp(...words: string[]): Promise<string> {
  const output = new PassThrough({ encoding: "utf8" });
  const io = {
    ...{ stdin: new PassThrough(), stdout: output, stderr: output },
    ...{ env: project.env, cwd: project.folder },
  };
  const program = new Command("capstan").option("--json").exitOverride();
  addMcp(program, io, { exitCode: exitCodes.ok });
  await program.parseAsync(["mcp", ...words], { from: "user" });
  return output.read() ?? "";
}

const file = () => readFileSync(join(project.folder, ".mcp.json"), "utf8");

describe("capstan mcp add, list and remove", () => {
  it("write the same format as the commands of other tools, and show it without values that may be secret", async () => {
    await mcp("add", "fs", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", ".");
    const said = await mcp(
      "add",
      "gh",
      "-e",
      "GITHUB_TOKEN=abc123",
      "--",
      "docker",
      "run",
      "-e",
      "GITHUB_TOKEN",
      "image",
    );
    expect(said).not.toContain("abc123");
    expect(said).toContain("The value of GITHUB_TOKEN is stored in plain text");
    const header = "Authorization: Bearer \u0024{DOCS_TOKEN}";
    await mcp("add", "docs", "https://user:hush@example.com/mcp?key=hush", "--header", header);
    expect(JSON.parse(file()).mcpServers).toEqual({
      fs: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] },
      gh: {
        command: "docker",
        args: ["run", "-e", "GITHUB_TOKEN", "image"],
        env: { GITHUB_TOKEN: "abc123" },
      },
      docs: {
        type: "http",
        url: "https://user:hush@example.com/mcp?key=hush",
        headers: { Authorization: "Bearer \u0024{DOCS_TOKEN}" },
      },
    });
    const list = await mcp("list");
    expect(list).toContain("fs    npx -y @modelcontextprotocol/server-filesystem .\n");
    expect(list).toContain("not trusted yet");
    expect(list).not.toMatch(/hush|abc123|Bearer/);
    expect(JSON.parse((await mcp("list", "--json")).split("\n")[0] ?? "").servers).toHaveLength(3);
    await mcp("remove", "gh");
    expect(Object.keys(JSON.parse(file()).mcpServers)).toEqual(["fs", "docs"]);
    expect(readdirSync(project.folder).filter((name) => name.includes(".tmp"))).toEqual([]);
  });

  it("keep a trusted file trusted, and trust no other", async () => {
    const getState = () => checkTrust(join(project.folder, ".mcp.json"), project.env).state;
    await mcp("add", "a", "one");
    expect(getState()).toBe("new");
    await trustFile(checkTrust(join(project.folder, ".mcp.json"), project.env), project.env);
    await mcp("add", "b", "two");
    await mcp("remove", "a");
    expect(getState()).toBe("trusted");
    expect(await mcp("list")).not.toContain("not trusted");
    project.write(".mcp.json", '{"mcpServers": {"evil": {"command": "evil"}}}');
    await mcp("add", "c", "three");
    expect(getState()).toBe("changed");
    expect(await mcp("list")).toContain("not trusted");
  });

  it("keep the rest of the file, its indentation and its line ends", async () => {
    const before =
      '{\r\n\t"inputs": [1, 2],\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "one", "own": true }\r\n\t},\r\n\t"z": null\r\n}\r\n';
    project.write(".mcp.json", before);
    await mcp("add", "b", "two");
    expect(JSON.parse(file())).toEqual({
      inputs: [1, 2],
      mcpServers: { a: { command: "one", own: true }, b: { command: "two" } },
      z: null,
    });
    expect(file()).toMatch(/^\{\r\n\t"inputs"/);
    expect(file().replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("say the next step for a name that is taken or unknown, and for a file that cannot be read; nothing is changed", async () => {
    await mcp("add", "fs", "one");
    await expect(mcp("add", "fs", "two")).rejects.toThrow(
      /already has a server "fs"\. Choose another name, or replace it with --force/,
    );
    await mcp("add", "--force", "fs", "two");
    expect(JSON.parse(file()).mcpServers.fs.command).toBe("two");
    await expect(mcp("remove", "fz")).rejects.toThrow('Did you mean "fs"?');
    await expect(mcp("add", "x", "https://example.com", "-e", "A=1")).rejects.toThrow(/use --header instead/);
    await expect(mcp("add", "a b", "cmd")).rejects.toThrow(/Invalid server name.*Usage: capstan mcp add/);
    const broken = '{"mcpServers": {"key": "hush",}';
    project.write(".mcp.json", broken);
    await expect(mcp("add", "y", "cmd")).rejects.toThrow(/is not valid JSON .*Fix it, then try again/);
    await expect(mcp("list")).rejects.not.toThrow(/hush/);
    expect(file()).toBe(broken);
  });
});

describe("the arguments of `mcp add`", () => {
  it("behind `--` all belong to the command, whatever they are", () => {
    const anyWord = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(fc.array(anyWord), (args) => {
        const { entry } = parseServer(["name", "--", "command", ...args]);
        expect(entry).toEqual({ command: "command", ...(args.length > 0 && { args }) });
        expect(describeServer(entry)).toContain("command");
      }),
    );
  });

  it("a variable behind all arguments is the server's environment; a name alone is taken from ours", () => {
    expect(parseServer(["a", "npx", "-y", "pkg", "-e", "KEY=1=2"]).entry).toEqual({
      command: "npx",
      args: ["-y", "pkg"],
      env: { KEY: "1=2" },
    });
    expect(parseServer(["a", "--env=TOKEN", "npx"]).entry).toEqual({
      command: "npx",
      env: { TOKEN: "\u0024{TOKEN}" },
    });
  });
});

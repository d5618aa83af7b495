import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../testing/cli-in-process.ts";
import { createScratchProject, type ScratchProject, startCli } from "../testing/cli-process.ts";
import { isTrusted } from "../trust/trust.ts";
import { loadProject } from "./load-project.ts";

const config = `
import { defineConfig } from "@capstan/cli";
import { defineAgent, defineTool } from "capstan";
import { offline } from "capstan/models/offline";
globalThis.configRuns = (globalThis.configRuns ?? 0) + 1;
const agent = (name: string) => defineAgent({ name, model: offline(), instructions: "" });
export default defineConfig({ agents: [agent("sailor"), agent("cook")], database: "own.db" });
`;
const smallServer = join(import.meta.dirname, "../../../mcp/src/client/testing/small-server.sh");
const runs = () => (globalThis as { configRuns?: number }).configRuns ?? 0;

let project: ScratchProject;
beforeEach(() => {
  project = createScratchProject();
  (globalThis as { configRuns?: number }).configRuns = 0;
});
afterEach(() => project.remove());

const inFolder = (...words: string[]) =>
  runCli([...words], project, { cwd: join(project.folder, "app", "deep") });
function writeApp(name: string, text: string): void {
  project.write(`app/${name}`, text);
  mkdirSync(join(project.folder, "app", "deep"), { recursive: true });
}

describe("a configuration", () => {
  it("is found upwards, and is code: a script refuses it until its folder is trusted, which is remembered for its owner alone", async () => {
    writeApp("capstan.config.ts", config);
    const before = await inFolder("-p", "Hi", "--json");
    expect(before).toMatchObject({ code: 1 });
    expect(before.stderr).toContain("--trust");
    expect(runs()).toBe(0);
    const trusted = await inFolder("-p", "Hi", "--json", "--trust");
    expect(JSON.parse(trusted.stdout)).toMatchObject({ agent: "sailor", status: "done" });
    const list = join(project.folder, ".data", "trust.json");
    expect(statSync(list).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(list, "utf8")).folders).toHaveLength(1);
    const later = await inFolder("-p", "Hi", "--json", "--agent", "cook");
    expect(JSON.parse(later.stdout)).toMatchObject({ agent: "cook" });
    expect(existsSync(join(project.folder, "app", "own.db"))).toBe(true);
  });

  it("that changed since it was trusted is refused by a script, also when code that it imports did", async () => {
    writeApp("capstan.config.ts", `import "./lib.ts";\n${config}`);
    writeApp("lib.ts", "export {};");
    expect(await inFolder("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    for (const [name, text] of [
      ["lib.ts", "export {}; globalThis.stolen = true;"],
      ["capstan.config.ts", `import "./lib.ts";\nglobalThis.stolen = true;\n${config}`],
    ] as const) {
      writeApp(name, text);
      const refused = await inFolder("-p", "Hi");
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/capstan\.config\.ts changed since you trusted it \(.+\)\. .*--trust/);
      expect(refused.stderr).toContain(`(${name})`);
      expect((await inFolder("models")).stderr).toContain("is not used: it changed since you trusted it");
      expect(await inFolder("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    }
    expect(await inFolder("-p", "Hi")).toMatchObject({ code: 0 });
  });

  it("in a folder with too many files to compare is asked about at every start (A147)", async () => {
    writeApp("capstan.config.ts", `import.meta.dirname;\n${config}`);
    for (let count = 0; count <= 10_000; count++) writeApp(`many/${count}.sh`, "");
    expect(await inFolder("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    const refused = await inFolder("-p", "Hi");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("(more files than can be compared)");
  });

  it("may change while `capstan dev` runs, but a file that was never trusted is not accepted", async () => {
    writeApp("capstan.config.ts", config);
    expect(await inFolder("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    const load = () =>
      loadProject(
        { acceptChanges: true },
        {
          stdin: new PassThrough(),
          stdout: new PassThrough(),
          stderr: new PassThrough(),
          env: project.env,
          cwd: join(project.folder, "app"),
        },
        "required",
      );
    writeApp("capstan.config.ts", `${config}// edited`);
    expect(await load()).toMatchObject({ untrusted: [] });
    expect(await inFolder("-p", "Hi")).toMatchObject({ code: 0 });
    writeApp(".mcp.json", "{}");
    expect(await load()).toMatchObject({ untrusted: [join(project.folder, "app", ".mcp.json")] });
  });

  it("is used without trust when it is named, and left alone by commands that only look", async () => {
    writeApp("capstan.config.ts", config);
    expect((await inFolder("models")).stderr).toContain("is not trusted");
    expect(runs()).toBe(0);
    const named = await inFolder("-p", "Hi", "--json", "--config", "../capstan.config.ts");
    expect(JSON.parse(named.stdout)).toMatchObject({ agent: "sailor" });
  });

  it.each([
    ["export default { agnets: [] }", 'unknown field "agnets". Did you mean "agents"?'],
    ["export default { server: { prot: 1 } }", 'unknown field "server.prot". Did you mean "port"?'],
    ["export default { policy: { maxTurn: 1 } }", 'Did you mean "maxTurns"?'],
    ["export default { database: 7, policy: {} }", '"database" must be a file'],
    ['export default { server: { apiKey: ["sk-hidden"] } }', '"server.apiKey" must be a string'],
    ["export default { about: { a: { suggestion: [] } } }", 'Did you mean "suggestions"?'],
    ["export default { about: { a: { title: 7 } } }", '"about.a.title" must be a string'],
    ["export default { about: { a: 'Ann' } }", '"about.a" must be an object'],
    ["export const config = {}", "Add `export default defineConfig"],
    ["", "Add `export default defineConfig"],
    ["throw new Error('no luck')", "wrong.config.mjs: no luck"],
    ["\n  throw new Error('no luck')", "wrong.config.mjs:2:9)"],
    ["import 'nowhere-to-be-found';", "npm install"],
  ])("that is wrong is named: %s", async (text, problem) => {
    project.write("wrong.config.mjs", text);
    const { code, stderr } = await runCli(["-p", "Hi", "--config", "wrong.config.mjs"], project);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    expect(stderr).not.toContain("sk-hidden");
  });
});

it("--trust trusts a folder without a configuration too, for the servers of an editor", async () => {
  expect(isTrusted(project.folder, project.env)).toBe(false);
  expect(await runCli(["-p", "Hi", "--trust"], project)).toMatchObject({ code: 0 });
  expect(isTrusted(project.folder, project.env)).toBe(true);
});

describe("a mistake in a file that a configuration imports", () => {
  it.each([
    ["a syntax error", "export const a = 1;\n\n\nconst ship: string = ;\n", /lib\/tools\.ts:4\)/],
    [
      "a throw",
      "const load = () => {\n  throw new Error('sunk');\n};\nload();\nexport {};",
      /sunk \(.*lib\/tools\.ts:2:9\)/,
    ],
    [
      "an export that is missing",
      "import { crane } from './ships.ts';\nexport { crane };",
      /lib\/tools\.ts:1\)/,
    ],
  ])("is named with its file and its line: %s", async (_what, text, place) => {
    project.write("lib/tools.ts", text);
    project.write("lib/ships.ts", "export const ship: number = 1;");
    project.write("capstan.config.ts", `import "./lib/tools.ts";\nexport default {};`);
    const cli = startCli(["-p", "Hi", "--trust"], project);
    cli.child.stdin.end();
    expect(await cli.exit).toBe(1);
    expect(cli.stderr()).toMatch(place);
    expect(cli.stderr().trimEnd().split("\n")).toHaveLength(1);
  });

  it("is not looked for in a configuration that exports nothing, which is none", async () => {
    project.write("capstan.config.ts", "");
    const { code, stderr } = await runCli(["-p", "Hi", "--trust"], project);
    expect(code).toBe(1);
    expect(stderr).toContain("capstan.config.ts has no default export");
  });
});

describe("MCP servers", () => {
  const mcp = (folder: string) =>
    JSON.stringify({ mcpServers: { small: { command: "sh", args: [smallServer, folder] } } });

  it("of .mcp.json are started only in a trusted folder, and their tools need nothing else (S4-63)", async () => {
    writeApp(".mcp.json", mcp(join(project.folder, "app")));
    const before = await inFolder("-p", "What can you do?");
    expect(before).toMatchObject({ code: 0 });
    expect(before.stderr).toMatch(/\.mcp\.json is not used: it is not trusted.*--trust/);
    expect((await inFolder("doctor")).stdout).not.toContain("mcp_small_hello");
    const trusted = await inFolder("-p", "What can you do?", "--trust");
    expect(trusted.stderr).toContain("Run `capstan mcp review small`.");
    const { stdout } = await inFolder("doctor");
    expect(stdout).toContain("! MCP server small: 1 tool: mcp_small_hello");
    expect(stdout).toContain("→ Run `capstan mcp review small`.");
  });

  it("are reviewed: the texts for the model are shown, and approved once", async () => {
    writeApp(".mcp.json", mcp(join(project.folder, "app")));
    const shown = await inFolder("mcp", "review", "small", "--trust");
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toContain('mcp_small_hello (not approved)\n  From the MCP server "small"');
    expect(shown.stderr).toContain("Not approved. To approve: capstan mcp review small --yes");
    expect((await inFolder("mcp", "review", "small", "--yes")).stderr).toContain("Approved small.");
    const approved = await inFolder("mcp", "review", "small", "--json");
    expect(JSON.parse(approved.stdout).tools).toMatchObject([{ name: "mcp_small_hello", isApproved: true }]);
    expect((await inFolder("-p", "Hi")).stderr).not.toContain("mcp review");
    expect((await inFolder("doctor")).stdout).toContain("✓ MCP server small: 1 tool: mcp_small_hello");
    const unknown = await inFolder("mcp", "review", "smal");
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain('MCP server "smal" not found. Did you mean "small"?');
  });

  it("of .mcp.json that changed after the user trusted it are not started", async () => {
    const app = join(project.folder, "app");
    const script = `exec sh ${smallServer} "$1"\n`;
    const own = { command: "sh", args: [join(app, "server.sh"), app] };
    writeApp("server.sh", script);
    writeApp(".mcp.json", JSON.stringify({ mcpServers: { own } }));
    const useServer = async (...flags: string[]) =>
      (await inFolder("-p", "What can you do?", ...flags)).stderr;
    expect(await useServer("--trust")).toContain("Run `capstan mcp review own`.");
    const started = join(project.folder, "started");
    const refuse = async (name: string) => {
      const refused = await inFolder("-p", "What can you do?");
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/\.mcp\.json changed since you trusted it \(.+\)\. .*--trust/);
      expect(refused.stderr).toContain(`(${name})`);
      expect(existsSync(started)).toBe(false);
    };
    const evil = { command: "touch", args: [started] };
    writeApp(".mcp.json", JSON.stringify({ mcpServers: { own, evil } }));
    await refuse(".mcp.json");
    writeApp(".mcp.json", JSON.stringify({ mcpServers: { own } }));
    writeApp("server.sh", `touch ${started}\n${script}`);
    await refuse("server.sh");
    writeApp("server.sh", script);
    expect(await useServer()).toContain("Run `capstan mcp review own`.");
  });

  it("of a new .mcp.json in a trusted folder are not started", async () => {
    writeApp("capstan.config.ts", config);
    expect(await inFolder("-p", "Hi", "--trust")).toMatchObject({ code: 0 });
    const started = join(project.folder, "started");
    const evil = { command: "touch", args: [started] };
    writeApp(".mcp.json", JSON.stringify({ mcpServers: { evil } }));
    const { stderr } = await inFolder("-p", "Hi");
    expect(stderr).toMatch(/\.mcp\.json is not used: it is not trusted/);
    expect(existsSync(started)).toBe(false);
  });

  it("may be given with a flag; a failing one is reported and does not stop the run", async () => {
    const given = JSON.stringify({ mcpServers: { gone: { command: "/nowhere/to/be/found" } } });
    const { code, stderr } = await runCli(["-p", "Hi", "--mcp-config", given], project);
    expect(code).toBe(0);
    expect(stderr).toContain('MCP server "gone" failed: ');
    const wrong = await runCli(["-p", "Hi", "--mcp-config", '{"sk-hidden'], project);
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).not.toContain("sk-hidden");
    const doctor = await runCli(["doctor", "--mcp-config", given], project);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain("✗ MCP server gone");
  });
});

describe("an MCP server that requires sign-in", () => {
  it("is reported in a script, which continues without a prompt", async () => {
    const server = createServer((request, response) => {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const json = (body: object) =>
        response.setHeader("content-type", "application/json").end(JSON.stringify(body));
      if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
        json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      else if (request.url?.startsWith("/.well-known/"))
        json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      else if (request.url === "/register") {
        response.statusCode = 201;
        json({ client_id: "us", redirect_uris: ["http://127.0.0.1:18917/callback"] });
      } else {
        response.statusCode = 401;
        const where = `${origin}/.well-known/oauth-protected-resource/mcp`;
        response.setHeader("www-authenticate", `Bearer resource_metadata="${where}"`).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      const given = JSON.stringify({ mcpServers: { hall: { type: "http", url } } });
      const { code, stderr } = await runCli(["-p", "Hi", "--mcp-config", given], project);
      expect(code).toBe(0);
      expect(stderr).toContain('"hall" requires sign-in: run `capstan` once in a terminal');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

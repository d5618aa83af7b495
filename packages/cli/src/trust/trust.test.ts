import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findUpwards } from "../config/find-upwards.ts";
import { checkTrust, isTrusted, listChangedPaths, trustFile, trustFolder } from "./trust.ts";

let root: string;
const env = () => ({ HOME: join(root, "home"), CAPSTAN_HOME: join(root, "data") });
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "capstan-trust-"));
  mkdirSync(join(root, "home", "project", "below"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("trust", () => {
  it("covers everything below a folder, by its real path, and nothing next to it", async () => {
    const project = join(root, "home", "project");
    symlinkSync(project, join(root, "link"));
    mkdirSync(join(root, "home", "project-2"));
    expect(isTrusted(project, env())).toBe(false);
    await trustFolder(join(root, "link"), env());
    expect(isTrusted(project, env())).toBe(true);
    expect(isTrusted(join(project, "below"), env())).toBe(true);
    expect(isTrusted(join(root, "home", "project-2"), env())).toBe(false);
  });

  it("in the home folder does not cover everything in it", async () => {
    await trustFolder(join(root, "home"), env());
    expect(isTrusted(join(root, "home"), env())).toBe(true);
    expect(isTrusted(join(root, "home", "project"), env())).toBe(false);
  });

  it("is not guessed from a file that is damaged", async () => {
    await trustFolder(join(root, "home"), env());
    writeFileSync(join(root, "data", "trust.json"), "{");
    expect(() => isTrusted(root, env())).toThrow(/trust\.json is damaged\. Repair or delete it/);
    writeFileSync(join(root, "data", "trust.json"), '{"folders": [], "files": {"/a": {"b": 1}}}');
    expect(() => isTrusted(root, env())).toThrow(/is damaged/);
  });
});

describe("trust in a project file", () => {
  const getFile = (...names: string[]) => join(root, "home", "project", ...names);
  const getState = (file: string) => checkTrust(file, env()).state;
  const write = (name: string, text: string) => writeFileSync(getFile(name), text);

  it("ends when the file changes, or code that it loads, and returns with the trusted text (A135)", async () => {
    write("capstan.config.ts", 'import "./tool.ts";');
    write("tool.ts", "old");
    const file = getFile("capstan.config.ts");
    expect(getState(file)).toBe("new");
    await trustFile(checkTrust(file, env()), env());
    expect(getState(file)).toBe("trusted");
    write("tool.ts", "evil");
    const { state, trusted, current } = checkTrust(file, env());
    expect(state).toBe("changed");
    expect(listChangedPaths(trusted, current)).toEqual(["tool.ts"]);
    write("tool.ts", "old");
    expect(getState(file)).toBe("trusted");
    write("capstan.config.ts", 'import "./tool.ts"; import "./more.ts";');
    expect(getState(file)).toBe("changed");
  });

  const config = (text: string) => ({ "capstan.config.mjs": text });
  const server = (command: string, args: readonly string[], more: object = {}) => ({
    ".mcp.json": JSON.stringify({ mcpServers: { a: { command, args, ...more } } }),
  });
  const bySelf = {
    "package.json": JSON.stringify({ name: "own", exports: "./a.mjs", imports: { "#a": "./a.mjs" } }),
  };
  const byScript = {
    "package.json": JSON.stringify({ name: "own", bin: { tool: "a.mjs" }, scripts: { mcp: "node a.mjs" } }),
  };

  it.each<[string, Record<string, string>]>([
    ["a percent code", config('import "./%61.mjs";')],
    ["a dynamic import of a percent code", config('await import("./%61.mjs");')],
    ["an escape", config(String.raw`import "./\x61.mjs";`)],
    ["a unicode escape", config(String.raw`import("./\u0061.mjs");`)],
    ["#imports of its package", { ...bySelf, ...config('import "#a";') }],
    ["its own package", { ...bySelf, ...config('import "own";') }],
    ["a file: URL", config('import "file://<folder>/a.mjs";')],
    ["an absolute path", config('import "<folder>/a.mjs";')],
    ["new URL", config('import(new URL("a.mjs", import.meta.url).href);')],
    [
      "import.meta.dirname",
      config('import { join } from "node:path"; await import(join(import.meta.dirname, "a" + ".mjs"));'),
    ],
    ["a template", config("await import(`./a.mjs`);")],
    ["a variable", config('const name = "./a" + ".mjs"; await import(name);')],
    ["a query", config('import "./a.mjs?v=1";')],
    [
      "createRequire",
      config('import { createRequire } from "node:module"; createRequire(import.meta.url)("./a" + ".mjs");'),
    ],
    [
      "a program that it starts",
      config('import { spawn } from "node:child_process"; spawn("node", ["a.mjs"]);'),
    ],
    [
      "an MCP server of it",
      config('export default { mcpServers: { a: { command: "node", args: ["a.mjs"] } } };'),
    ],
    ["a module between", { ...config('import "./b.mjs";'), "b.mjs": 'import "./%61.mjs";' }],
    ["sh and a name", server("sh", ["start"])],
    ["sh -c", server("sh", ["-c", "./start"])],
    ["npm run", { ...byScript, ...server("npm", ["run", "mcp"]) }],
    ["a script that another one includes", { ...server("sh", ["b.sh"]), "b.sh": ". ./start" }],
    [
      "a script of npm without a type",
      { "package.json": '{"scripts":{"mcp":"sh start"}}', ...server("npm", ["run", "mcp"]) },
    ],
    ["the shell of npm", { ".npmrc": "script-shell=./start", ...server("npm", ["run", "mcp"]) }],
    ["a script of make", { Makefile: "mcp:\n\tsh start", ...server("make", ["mcp"]) }],
    ["make", { Makefile: "mcp:\n\t./a.mjs", ...server("make", ["mcp"]) }],
    ["node and a flag", server("node", ["--import", "./a.mjs", "-e", "0"])],
    ["node -e", server("node", ["-e", "import('./a.mjs')"])],
    ["node --run", { ...byScript, ...server("node", ["--run", "mcp"]) }],
    ["node and a percent code", { ...server("node", ["./b.mjs"]), "b.mjs": 'import "./%61.mjs";' }],
    ["NODE_OPTIONS", server("npx", ["server"], { env: { NODE_OPTIONS: "--import=./a.mjs" } })],
    ["python and a module", { ...server("python3", ["b.py"]), "b.py": "import a" }],
    ["npx and its own program", { ...byScript, ...server("npx", ["tool@latest"]) }],
    ["npx -c", server("npx", ["-c", "./a.mjs"])],
    ["uvx from the folder", server("uvx", ["--from", ".", "tool"])],
    ["a volume of docker", server("docker", ["run", "-v", "./a.mjs:/a.mjs", "image"])],
    ["a file: URL as an argument", server("node", ["file://<folder>/a.mjs"])],
  ])("ends when code changes that is named by %s (A135, A147)", async (_, files) => {
    for (const [name, text] of Object.entries(files)) write(name, text.replaceAll("<folder>", getFile()));
    for (const name of ["a.mjs", "start", "notes.md", "4711", ".env"]) write(name, "old");
    const file = getFile(Object.keys(files).find((name) => /^(?:capstan|\.mcp)/.test(name)) ?? "");
    await trustFile(checkTrust(file, env()), env());
    expect(getState(file)).toBe("trusted");
    for (const name of ["notes.md", "4711", ".env"]) write(name, "data may change");
    expect(getState(file)).toBe("trusted");
    const changed = JSON.stringify(files).includes("start") ? "start" : "a.mjs";
    write(changed, "evil");
    const { state, trusted, current } = checkTrust(file, env());
    expect([state, listChangedPaths(trusted, current)]).toEqual(["changed", [changed]]);
  });

  it.each<[string, Record<string, string>]>([
    [
      "a config that imports by name",
      config('import { z } from "zod"; import { b } from "./b.mjs"; export default { b };'),
    ],
    [
      "a server in a package",
      server("npx", ["-y", "@modelcontextprotocol/server-github"], { env: { TOKEN: "x" } }),
    ],
    ["a server in an image", server("docker", ["run", "-i", "--rm", "mcp/github"])],
    ["a script of node that imports by name", { ...server("node", ["./b.mjs"]) }],
  ])("outlives changes of other files, with %s", async (_, files) => {
    for (const [name, text] of Object.entries({ "b.mjs": "export const b = 1;", ...files }))
      write(name, text);
    write("unused.mjs", "old");
    const file = getFile(Object.keys(files).at(-1) ?? "");
    await trustFile(checkTrust(file, env()), env());
    write("unused.mjs", "new");
    expect(getState(file)).toBe("trusted");
  });

  it("ends when a package of the folder changes that is linked as an installed one (A135, A147)", async () => {
    for (const name of ["inner", "node_modules"]) mkdirSync(getFile(name));
    symlinkSync("../inner", getFile("node_modules", "inner"));
    write("inner/package.json", '{ "name": "inner", "exports": "./main.mjs" }');
    write("inner/main.mjs", "old");
    write("capstan.config.mjs", 'import "inner";');
    const file = getFile("capstan.config.mjs");
    await trustFile(checkTrust(file, env()), env());
    write("inner/main.mjs", "evil");
    expect(getState(file)).toBe("changed");
  });

  it("does not extend to a new file, even in a subfolder of a trusted folder", async () => {
    write("capstan.config.ts", "");
    await trustFile(checkTrust(getFile("capstan.config.ts"), env()), env());
    write(".mcp.json", "{}");
    write("below/.mcp.json", "{}");
    expect(getState(getFile(".mcp.json"))).toBe("new");
    expect(getState(getFile("below", ".mcp.json"))).toBe("new");
  });

  it("is asked for once more when only the folder was recorded, as version 0.1 did", async () => {
    write(".mcp.json", "{}");
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data", "trust.json"), JSON.stringify({ folders: [getFile()] }));
    expect(isTrusted(getFile(), env())).toBe(true);
    expect(getState(getFile(".mcp.json"))).toBe("new");
    await trustFile(checkTrust(getFile(".mcp.json"), env()), env());
    expect(getState(getFile(".mcp.json"))).toBe("trusted");
  });

  it("holds through a link to the folder, and not for a folder that was moved or put in its place", async () => {
    write(".mcp.json", "{}");
    symlinkSync(getFile(), join(root, "link"));
    await trustFile(checkTrust(join(root, "link", ".mcp.json"), env()), env());
    expect(getState(getFile(".mcp.json"))).toBe("trusted");
    renameSync(getFile(), join(root, "home", "moved"));
    expect(getState(join(root, "home", "moved", ".mcp.json"))).toBe("new");
    mkdirSync(getFile());
    write(".mcp.json", '{"mcpServers": {}}');
    expect(getState(join(root, "link", ".mcp.json"))).toBe("changed");
  });

  it("is what was shown: a file that changes before the answer is not trusted", async () => {
    write(".mcp.json", "{}");
    const shown = checkTrust(getFile(".mcp.json"), env());
    write(".mcp.json", '{"mcpServers": {"evil": {"command": "evil"}}}');
    await trustFile(shown, env());
    expect(getState(getFile(".mcp.json"))).toBe("changed");
  });

  it("is recorded for its owner alone", async () => {
    write(".mcp.json", "{}");
    await trustFile(checkTrust(getFile(".mcp.json"), env()), env());
    expect(statSync(join(root, "data", "trust.json")).mode & 0o777).toBe(0o600);
  });
});

describe("a file searched in parent folders", () => {
  it("is the nearest one, and none of the home folder's or above", () => {
    const from = join(root, "home", "project", "below");
    const find = () => findUpwards(["b", "a"], { from, home: join(root, "home") });
    writeFileSync(join(root, "a"), "");
    writeFileSync(join(root, "home", "a"), "");
    expect(find()).toBeUndefined();
    writeFileSync(join(root, "home", "project", "a"), "");
    expect(find()).toBe(join(root, "home", "project", "a"));
    writeFileSync(join(root, "home", "project", "b"), "");
    expect(find()).toBe(join(root, "home", "project", "b"));
    expect(findUpwards(["a"], { from: join(root, "home"), home: join(root, "home") })).toBe(
      join(root, "home", "a"),
    );
  });
});

describe("the data folder", () => {
  it.each([
    ["linux", { HOME: "/h" }, "/h/.local/share/capstan"],
    ["linux", { HOME: "/h", XDG_DATA_HOME: "/x" }, "/x/capstan"],
    ["darwin", { HOME: "/h" }, "/h/Library/Application Support/capstan"],
    ["win32", { USERPROFILE: "/h", LOCALAPPDATA: "/l" }, "/l/capstan"],
    ["linux", { HOME: "/h", CAPSTAN_HOME: "/c" }, "/c"],
  ] as const)("on %s with %j is %s", (platform, given, folder) => {
    expect(dataFolder(given, platform).replaceAll("\\", "/")).toBe(folder);
  });
});

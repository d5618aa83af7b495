import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeSnapshot } from "./snapshot.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-snapshot-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
const listCovered = (file: string) => Object.keys(takeSnapshot(join(folder, file))).sort();

describe("what is trusted with a config", () => {
  it("is its own text and the modules it imports, from file to file", () => {
    write({
      "app/capstan.config.ts": `import { desk } from "./agents/desk.ts";\nexport * from '../shared.mjs';\nimport { z } from "zod";`,
      "app/agents/desk.ts": `const { tool } = await import("./tool.ts");\nimport "../capstan.config.ts";`,
      "app/agents/tool.ts": `const old = require("./old");\nimport names from "./names.json" with { type: "json" };`,
      "app/agents/names.json": "[]",
      "app/agents/old.js": "",
      "shared.mjs": "",
      "app/agents/unused.ts": "",
    });
    expect(listCovered("app/capstan.config.ts")).toEqual([
      "../shared.mjs",
      "agents/desk.ts",
      "agents/names.json",
      "agents/old.js",
      "agents/tool.ts",
      "capstan.config.ts",
    ]);
  });

  it("is no data, which a run may change, and no package", () => {
    write({
      "capstan.config.ts": `export default { database: "./own.db" }; read("./state.json", "./node_modules/a/a.js");`,
      "own.db": "",
      "state.json": "",
      "node_modules/a/a.js": "",
    });
    expect(listCovered("capstan.config.ts")).toEqual(["capstan.config.ts"]);
  });

  it("is the file behind a link, with the imports next to that file", () => {
    write({ "shared/real.config.ts": `import "./tool.ts";`, "shared/tool.ts": "", "app/tool.ts": "" });
    symlinkSync("../shared/real.config.ts", join(folder, "app/capstan.config.ts"));
    expect(listCovered("app/capstan.config.ts")).toEqual(["../shared/real.config.ts", "../shared/tool.ts"]);
  });
});

describe("what is trusted with .mcp.json", () => {
  it("is its own text and the local scripts it starts, with their imports", () => {
    const mcpServers = {
      a: { command: "node", args: ["./servers/a.mjs", "--verbose", "./data.db"] },
      b: { command: "./bin/start" },
      c: { command: "python3", args: ["main.py"], cwd: "servers" },
      d: { command: "/bin/sh", args: ["/etc/profile", "-c", "missing.sh"] },
      e: { url: "https://example.com/mcp" },
      f: null,
    };
    write({
      ".mcp.json": JSON.stringify({ mcpServers }),
      "servers/a.mjs": `import "./lib.mjs";`,
      "servers/lib.mjs": "",
      "servers/main.py": "",
      "bin/start": "",
      "data.db": "",
    });
    expect(listCovered(".mcp.json")).toEqual([
      ".mcp.json",
      "bin/start",
      "servers/a.mjs",
      "servers/lib.mjs",
      "servers/main.py",
    ]);
  });

  it("is the file behind a link, with the scripts next to the link", () => {
    const mcpServers = { a: { command: "sh", args: ["a.sh"] } };
    write({ "shared/servers.json": JSON.stringify({ mcpServers }), "app/a.sh": "", "shared/a.sh": "" });
    symlinkSync("../shared/servers.json", join(folder, "app/.mcp.json"));
    expect(listCovered("app/.mcp.json")).toEqual(["../shared/servers.json", "a.sh"]);
  });

  it("is the file alone when it is not valid", () => {
    write({ ".mcp.json": "{", "a/.mcp.json": "[]" });
    expect(listCovered(".mcp.json")).toEqual([".mcp.json"]);
    expect(listCovered("a/.mcp.json")).toEqual([".mcp.json"]);
  });
});

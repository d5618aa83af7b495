import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { beforeAll, describe, expect, it } from "vitest";
import { getEntries } from "./build.ts";

const root = join(import.meta.dirname, "..");
const folder = join(root, "packages/capstan");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

describe("the built package", () => {
  beforeAll(() => {
    execFileSync(process.execPath, [join(root, "scripts/build.ts"), folder]);
  });

  it("contains every exported file with its types", () => {
    const files = Object.values<{ types?: string; default?: string }>(manifest.exports).flatMap(
      ({ types, default: built }) => [types ?? [], built ?? []].flat(),
    );
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    expect(Object.keys(getEntries(manifest))).toContain("testing/index");
  });

  it("runs an agent when it is imported by name, without the sources", () => {
    const program = `
      import { defineAgent, run } from "capstan";
      import { scriptedModel } from "capstan/testing";
      const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Built." }]) });
      console.log((await run(agent, "Hi")).text, import.meta.resolve("capstan").endsWith("dist/index.js"));
    `;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
    });
    expect(output.trim()).toBe("Built. true");
  });

  it("stores the time zone of the machine with a run, in UTC without Intl", () => {
    const program = `
      import { defineAgent, run } from "capstan";
      import { scriptedModel } from "capstan/testing";
      const { DateTimeFormat } = Intl;
      let isUsed = false;
      Intl.DateTimeFormat = (...args) => ((isUsed = true), DateTimeFormat(...args));
      const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Over." }]) });
      for await (const event of run(agent, "Hi"))
        if (event.type === "run_start") console.log(event.timeZone, isUsed);
    `;
    const runIn = (TZ: string) =>
      execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        cwd: root,
        encoding: "utf8",
        env: { ...process.env, TZ, LC_ALL: "en_US.UTF-8" },
      }).trim();
    expect(["UTC", "Europe/Oslo"].map(runIn)).toEqual(["UTC false", "Europe/Oslo true"]);
  });

  it("executes an isolated tool in a process of its own (F42)", () => {
    const scratch = mkdtempSync(join(tmpdir(), "capstan-isolated-"));
    symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
    const tools = `
      import { defineTool } from "capstan";
      export const pid = defineTool({
        name: "pid", description: "", input: {}, isolate: true, execute: () => String(process.pid),
      });
    `;
    const program = `
      import { defineAgent, run } from "capstan";
      import { scriptedModel } from "capstan/testing";
      import { pid } from ${JSON.stringify(pathToFileURL(join(scratch, "tools.ts")).href)};
      const agent = defineAgent({
        name: "a",
        model: scriptedModel([{ calls: [{ name: "pid", input: {} }] }, { text: "Over." }]),
        tools: [pid],
      });
      const { toolCalls: [call] } = await run(agent, "Go.");
      console.log(call.status, Number(call.result) !== process.pid);
    `;
    try {
      writeFileSync(join(scratch, "tools.ts"), tools);
      const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        cwd: root,
        encoding: "utf8",
      });
      expect(output.trim()).toBe("ok true");
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });

  describe("on import, with one model client", () => {
    const loaded = () => listLoadedFiles(["dist/index.js", "dist/models/openai.js"]);

    it("loads neither a schema library nor a Node module", () => {
      expect(loaded().flatMap(({ packages }) => packages)).toEqual(["eventsource-parser"]);
    });

    it("loads few files, and not what only some runs use", () => {
      expect(loaded().length).toBeLessThan(9);
      const size = loaded().reduce((sum, { text }) => sum + text.length, 0);
      expect(size).toBeLessThan(750_000);
      const code = loaded()
        .map(({ text }) => text)
        .join("\n");
      const rare = /function (?:createFinder|dropTextWithCalls|exchangeMessages)\b/g;
      expect(code.match(rare)).toBeNull();
      expect(code.match(/function runLoop\b/g)).toHaveLength(1);
    });

    it("leaves the Unicode properties of patterns and the two-byte strings to the files that need them", () => {
      for (const { file, text } of loaded()) {
        expect(
          listPatterns(text).filter((pattern) => /\\p\{/i.test(pattern)),
          file,
        ).toEqual([]);
        expect(/[^\0-\x7f]/.exec(text)?.[0], file).toBeUndefined();
      }
    });
  });

  it("has fewer than ten dependencies", () => {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
    const found = new Set<string>();
    const visit = (names: readonly string[]) => {
      for (const name of names) {
        if (found.has(name)) continue;
        found.add(name);
        visit(Object.keys(lock[`node_modules/${name}`]?.dependencies ?? {}));
      }
    };
    visit(Object.keys(manifest.dependencies));
    expect(found.size + 1).toBeLessThan(10);
  });
});

/** Returns the files of the built package that are loaded with these, and the packages that each of them imports. */
function listLoadedFiles(entries: readonly string[]) {
  const files = new Map<string, { file: string; text: string; packages: string[] }>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    const text = readFileSync(join(folder, file), "utf8");
    const imports = [...text.matchAll(/^(?:import|export) (?:[^"';]* from )?"([^"]+)";$/gm)].map(
      ([, id = ""]) => id,
    );
    const isOwn = (id: string) => id.startsWith(".");
    files.set(file, { file, text, packages: imports.filter((id) => !isOwn(id)) });
    for (const id of imports.filter(isOwn)) visit(join(file, "..", id));
  };
  entries.forEach(visit);
  return [...files.values()];
}

/** Returns the sources of all regular expressions that are literals. */
function listPatterns(code: string): string[] {
  const patterns: string[] = [];
  JSON.stringify(parseAst(code), (_, node) => {
    if (node?.type === "Literal" && node.regex) patterns.push(node.regex.pattern);
    return node;
  });
  return patterns;
}

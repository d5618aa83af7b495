// Code that users copy: the projects of `capstan init`, the examples, the apps, and the files of the tutorial.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildProjectFiles, type TemplateName, templates } from "../packages/cli/src/init/project-files.ts";
import { secretPattern } from "./release-checks.ts";
import { tutorialBlocks } from "./tutorial.ts";

const root = join(import.meta.dirname, "..");
const readText = (path: string): string => readFileSync(join(root, path), "utf8");

type Sample = { readonly path: string; readonly text: string };

const samplePaths = globSync(
  ["docs/{examples,programs}/**/*.*", "apps/**/*.{ts,tsx,js,json,md,yaml,yml,sh,html}", "apps/**/.env*"],
  {
    cwd: root,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
  },
);
const generatedSamples: Sample[] = [
  ...(Object.keys(templates) as TemplateName[]).flatMap((template) =>
    buildProjectFiles({ name: "demo", version: "1.2.3", template }).map(([path, text]) => ({
      path: `init ${template}: ${path}`,
      text,
    })),
  ),
  ...tutorialBlocks(readText("docs/tutorial.md")).flatMap((block) =>
    block.type === "file" ? [{ path: `tutorial: ${block.path}`, text: block.text }] : [],
  ),
];
const samples: Sample[] = [
  ...samplePaths.sort().map((path) => ({ path, text: readText(path) })),
  ...generatedSamples,
];
/** Executable files, without tests, which try forbidden things on purpose. */
const programs = samples.filter(
  ({ path }) => /\.tsx?$/.test(path) && !/\.test\.tsx?$|\/testing\//.test(path),
);

const rules = {
  /** A variable with a value; `.env.example` has names only. */
  filledIn: /\b[A-Z]+_(?:API_)?(?:KEY|TOKEN|SECRET)\s*=\s*["']?[A-Za-z0-9]/,
  keyInCode: /\b(?:apiKey|authToken|clientSecret)\s*:\s*["'`](?!none["'`])[^"'`]/,
  /** Would install the newest version on the day it runs. */
  unpinnedNpx: /["']npx["'].*["'](?:-y|--yes)["'],\s*["'](?!@?[^"'@]+@\d)/,
  looseSafety: /\bgate\s*:\s*["']off["']|\bapprovals\s*:\s*["']allow["']/,
  publicHost: /\bhost(?:name)?\s*[:=]\s*["'](?!127\.|localhost|::1)|["'](?:0\.0\.0\.0|::)["']/,
  anyOrigin: /\b(?:origins|hosts)\s*:\s*\[[^\]]*["']\*/,
  /** Without an address, a Node server listens on all interfaces. */
  publicListen: /\.listen\((?![^)]*(?:127\.0\.0\.1|localhost))[^)]*\)/,
  codeFromText: /\beval\(|new Function\(|\bvm\.run|\bshell\s*:\s*true|\bexecSync\(|(?<![.\w])exec\(`/,
  uncheckedPeer: /rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/,
};

/** Returns the lines that match a pattern, as "file: line". */
function findLines(pattern: RegExp, among: readonly Sample[] = programs): string[] {
  return among.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
}

describe("code that users copy", () => {
  it("is complete", () => {
    const starts = [
      ...[
        "docs/examples/quick-start.ts",
        "init chat: package.json",
        "init server: server.ts",
        "tutorial: desk.ts",
      ],
      ...["airport", "files", "graph", "knowledge", "mcp-bridge"].map((app) => `apps/${app}/`),
    ];
    expect(starts.filter((start) => !samples.some(({ path }) => path.startsWith(start)))).toEqual([]);
  });

  it("contains no key (A123)", () => {
    expect(samples.filter(({ text }) => secretPattern.test(text)).map(({ path }) => path)).toEqual([]);
    expect(findLines(rules.filledIn, samples)).toEqual([]);
    expect(findLines(rules.keyInCode)).toEqual([]);
  });

  it("pins every version (A123)", () => {
    const manifests = samples.filter(({ path }) => path.endsWith("package.json"));
    const loose = manifests.flatMap(({ path, text }) => {
      const { dependencies, devDependencies, peerDependencies } = JSON.parse(text);
      const wanted: Record<string, string> = { ...dependencies, ...devDependencies, ...peerDependencies };
      return Object.entries(wanted)
        .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`);
    });
    expect(loose).toEqual([]);
    expect(manifests.length).toBeGreaterThanOrEqual(6);
    expect(findLines(rules.unpinnedNpx, samples)).toEqual([]);
  });

  it("disables neither the gate nor approvals (A123)", () => {
    // An example of a policy that is refused on save.
    const subjects = ['docs/examples/stored-agents.ts: { ...clerk, policy: { gate: "off" } as const },'];
    expect(findLines(rules.looseSafety)).toEqual(subjects);
  });

  it("listens on this machine only (A123)", () => {
    expect(findLines(rules.publicHost)).toEqual([]);
    expect(findLines(rules.anyOrigin)).toEqual([]);
    expect(findLines(rules.publicListen)).toEqual([]);
  });

  it("evaluates no text, runs no shell, and checks certificates (A123)", () => {
    expect(findLines(rules.codeFromText)).toEqual([]);
    expect(findLines(rules.uncheckedPeer)).toEqual([]);
  });
});

describe("the rules for copied code", () => {
  it.each([
    ["filledIn", "OPENAI_API_KEY=abc"],
    ["keyInCode", 'openai({ model, apiKey: "abc" })'],
    ["unpinnedNpx", 'memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] },'],
    ["looseSafety", 'policy: { approvals: "allow" },'],
    ["publicHost", 'server: { host: "0.0.0.0" },'],
    ["anyOrigin", 'origins: ["*"],'],
    ["publicListen", "server.listen(8080);"],
    ["codeFromText", "eval(text);"],
    ["uncheckedPeer", "rejectUnauthorized: false,"],
  ] as const)("%s finds %s", (rule, text) => {
    expect(findLines(rules[rule], [{ path: "a.ts", text }])).toHaveLength(1);
  });

  it.each([
    ["filledIn", "OPENAI_API_KEY="],
    ["keyInCode", "openai({ model, apiKey: process.env.MY_KEY })"],
    ["unpinnedNpx", 'memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory@1.2.3"] },'],
    ["publicHost", 'listen(server, { host: "127.0.0.1" });'],
    ["publicListen", 'server.listen(0, "127.0.0.1", resolve);'],
    ["codeFromText", "pattern.exec(`text`);"],
  ] as const)("%s lets %s pass", (rule, text) => {
    expect(findLines(rules[rule], [{ path: "a.ts", text }])).toEqual([]);
  });
});

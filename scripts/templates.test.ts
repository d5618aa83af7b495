// What people copy: the project of `capstan init`, the examples, the apps, and what the tutorial has its readers write.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildProjectFiles } from "../packages/cli/src/init/project-files.ts";
import { secretPattern } from "./release-checks.ts";
import { tutorialBlocks } from "./tutorial.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

type Sample = { readonly path: string; readonly text: string };

const found = globSync(
  ["docs/examples/**/*", "apps/**/*.{ts,tsx,js,json,md,yaml,yml,sh,html}", "apps/**/.env*"],
  {
    cwd: root,
    exclude: (path) => /(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path),
  },
);
const made: Sample[] = [
  ...buildProjectFiles({ name: "demo", version: "1.2.3" }).map(([path, text]) => ({
    path: `init: ${path}`,
    text,
  })),
  ...tutorialBlocks(read("docs/tutorial.md")).flatMap((block) =>
    block.type === "file" ? [{ path: `tutorial: ${block.path}`, text: block.text }] : [],
  ),
];
const samples: Sample[] = [...found.sort().map((path) => ({ path, text: read(path) })), ...made];
/** What is run. Tests try the forbidden, and data is data. */
const programs = samples.filter(
  ({ path }) => /\.tsx?$/.test(path) && !/\.test\.tsx?$|\/testing\//.test(path),
);

const rules = {
  /** A variable with a value; of `.env.example` there is the name alone. */
  filledIn: /\b[A-Z]+_(?:API_)?(?:KEY|TOKEN|SECRET)\s*=\s*["']?[A-Za-z0-9]/,
  keyInCode: /\b(?:apiKey|authToken|clientSecret)\s*:\s*["'`](?!none["'`])[^"'`]/,
  /** It would take whatever is newest on the day it is run. */
  unpinnedNpx: /["']npx["'].*["'](?:-y|--yes)["'],\s*["'](?!@?[^"'@]+@\d)/,
  looseSafety: /\bgate\s*:\s*["']off["']|\bapprovals\s*:\s*["']allow["']/,
  publicHost: /\bhost(?:name)?\s*[:=]\s*["'](?!127\.|localhost|::1)|["'](?:0\.0\.0\.0|::)["']/,
  anyOrigin: /\b(?:origins|hosts)\s*:\s*\[[^\]]*["']\*/,
  /** Without an address, a server of Node listens on all of them. */
  publicListen: /\.listen\((?![^)]*(?:127\.0\.0\.1|localhost))[^)]*\)/,
  codeFromText: /\beval\(|new Function\(|\bvm\.run|\bshell\s*:\s*true|\bexecSync\(|(?<![.\w])exec\(`/,
  uncheckedPeer: /rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/,
};

/** Lines that break a rule, as "file: line". */
function linesWith(pattern: RegExp, among: readonly Sample[] = programs): string[] {
  return among.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
}

describe("what people copy", () => {
  it("is all here", () => {
    const starts = [
      ...["docs/examples/quick-start.ts", "init: package.json", "tutorial: desk.ts"],
      ...["airport", "files", "graph", "knowledge", "mcp-bridge"].map((app) => `apps/${app}/`),
    ];
    expect(starts.filter((start) => !samples.some(({ path }) => path.startsWith(start)))).toEqual([]);
  });

  it("has no key in it, and no place with one filled in (A123)", () => {
    expect(samples.filter(({ text }) => secretPattern.test(text)).map(({ path }) => path)).toEqual([]);
    expect(linesWith(rules.filledIn, samples)).toEqual([]);
    expect(linesWith(rules.keyInCode)).toEqual([]);
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
    expect(linesWith(rules.unpinnedNpx, samples)).toEqual([]);
  });

  it("switches off neither the gate nor approvals (A123)", () => {
    // The example of what is refused when it is saved.
    const subjects = ['docs/examples/stored-agents.ts: { ...clerk, policy: { gate: "off" } as const },'];
    expect(linesWith(rules.looseSafety)).toEqual(subjects);
  });

  it("is reached from this machine alone (A123)", () => {
    expect(linesWith(rules.publicHost)).toEqual([]);
    expect(linesWith(rules.anyOrigin)).toEqual([]);
    expect(linesWith(rules.publicListen)).toEqual([]);
  });

  it("runs no code from texts and no shell, and checks certificates (A123)", () => {
    expect(linesWith(rules.codeFromText)).toEqual([]);
    expect(linesWith(rules.uncheckedPeer)).toEqual([]);
  });
});

describe("the rules for what people copy", () => {
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
    expect(linesWith(rules[rule], [{ path: "a.ts", text }])).toHaveLength(1);
  });

  it.each([
    ["filledIn", "OPENAI_API_KEY="],
    ["keyInCode", "openai({ model, apiKey: process.env.MY_KEY })"],
    ["unpinnedNpx", 'memory: { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory@1.2.3"] },'],
    ["publicHost", 'listen(server, { host: "127.0.0.1" });'],
    ["publicListen", 'server.listen(0, "127.0.0.1", resolve);'],
    ["codeFromText", "pattern.exec(`text`);"],
  ] as const)("%s lets %s pass", (rule, text) => {
    expect(linesWith(rules[rule], [{ path: "a.ts", text }])).toEqual([]);
  });
});

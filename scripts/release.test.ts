import { execFile } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startLoopbackRegistry } from "../packages/cli/src/testing/loopback-registry.ts";
import { releaseOrder, releaseProblems } from "./release.ts";
import { changelogProblems, contentProblems, manifestProblems, publishProblems } from "./release-checks.ts";
import { billOf } from "./release-sbom.ts";
import { packInto } from "./release-tarballs.ts";

const good = { version: "1.2.0", license: "MIT", repository: { url: "git+https://git.example/capstan.git" } };
const core = { ...good, name: "core" };
const cli = { ...good, name: "cli", dependencies: { core: "1.2.0", zod: "4.6.7" } };

describe("the manifests of a release", () => {
  it("have one version, need exactly each other, and run nothing when they are installed (A122)", () => {
    expect(manifestProblems([core, cli])).toEqual([]);
    const problems = manifestProblems([
      core,
      { ...cli, version: "1.3.0", dependencies: { core: "^1.2.0" }, scripts: { postinstall: "node x.js" } },
    ]);
    expect(problems).toEqual([
      "cli has version 1.3.0, others 1.2.0.",
      "cli 1.3.0 needs core ^1.2.0, not 1.3.0.",
      'cli needs core "^1.2.0", which is no exact version.',
      'cli would run "postinstall" on the machine of whoever installs it.',
    ]);
  });

  it("name their licence and their repository", () => {
    expect(manifestProblems([{ name: "core", version: "1.0.0" }])).toEqual([
      "core names no licence.",
      "core names no repository, which provenance is checked against.",
    ]);
  });

  it("are published in an order in which nothing is missing", () => {
    expect(releaseOrder([cli, core]).map(({ name }) => name)).toEqual(["core", "cli"]);
  });
});

describe("the changelog of a release", () => {
  it("has the version with a date, and nothing unreleased", () => {
    const done = "# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-11-15)\n\n- New.\n";
    expect(changelogProblems(done, "1.2.0")).toEqual([]);
    expect(changelogProblems(done, "1.2.1")).toEqual(['CHANGELOG.md has no section "## 1.2.1 (date)".']);
    expect(changelogProblems("## Unreleased\n\n- More.\n\n## 1.2.0\n", "1.2.0")).toEqual([
      "The section 1.2.0 of CHANGELOG.md has no date.",
      "The section 1.2.0 of CHANGELOG.md is empty.",
      "CHANGELOG.md still has something under Unreleased.",
    ]);
  });
});

describe("a tarball of a release", () => {
  const file = (path: string, text = ""): { path: string; text: string } => ({ path, text });
  const licence = file("LICENSE");
  const problemsOf = (path: string, text = "") =>
    contentProblems(core, [licence, file(path, text)], ["/home/ada/"]);

  it.each([
    ["src/run.test.ts", "", "core must not hold src/run.test.ts."],
    ["dist/.env.local", "", "core must not hold dist/.env.local."],
    ["server.pem", "", "core must not hold server.pem."],
    ["dist/a.js", `key = "sk-proj-${"a1".repeat(20)}"`, "core: dist/a.js holds what looks like a secret."],
    ["dist/a.js", "-----BEGIN RSA PRIVATE KEY-----", "core: dist/a.js holds what looks like a secret."],
    ["dist/a.js", "at /home/ada/work/a.ts", "core: dist/a.js has a path of this machine."],
    ["dist/a.js.map", '{"sources":["/build/a.ts"]}', "core: dist/a.js.map names the source /build/a.ts."],
  ])("is refused for %s %s", (path, text, problem) => {
    expect(problemsOf(path, text)).toEqual([problem]);
  });

  it("passes with sources, maps and a licence, and has what its exports promise", () => {
    expect(problemsOf("dist/a.js.map", '{"sources":["../src/a.ts"]}')).toEqual([]);
    const manifest = { ...core, exports: { ".": { types: "./dist/a.d.ts", default: "./dist/a.js" } } };
    expect(contentProblems(manifest, [file("dist/a.js")], [])).toEqual([
      "core lacks dist/a.d.ts.",
      "core lacks LICENSE.",
    ]);
  });
});

describe("the bill of materials", () => {
  it("lists what is released and what npm installs with it, each once, and nothing of development", () => {
    const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8"));
    const folders = ["packages/capstan", "packages/tools"];
    const { components } = billOf(lock, folders);
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["capstan", "@capstan/tools", "re2js", "linkedom"]));
    expect(names).not.toContain("vitest");
    expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
    const others = components.filter(({ name }) => !/^(?:@capstan\/|capstan$)/.test(name));
    expect(others.filter(({ hashes, licenses }) => !hashes || !licenses)).toEqual([]);
    expect(billOf(lock, folders)).toEqual(billOf(lock, folders.toReversed()));
  });

  it("fails for what the lockfile lacks", () => {
    const lock = { packages: { "packages/core": { version: "1.0.0", dependencies: { gone: "1.0.0" } } } };
    expect(() => billOf(lock, ["packages/core"])).toThrow("The lockfile lacks gone");
  });
});

describe("publishing", () => {
  const env = {
    CI: "true",
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://ci.example",
    GITHUB_REF: "refs/tags/v1.2.0",
  };

  it("happens only in CI, on the tag, by trusted publishing and without a token (A122)", () => {
    expect(publishProblems(env, "1.2.0")).toEqual([]);
    expect(publishProblems({}, "1.2.0")).toHaveLength(3);
    expect(publishProblems({ ...env, NODE_AUTH_TOKEN: "x" }, "1.2.0")).toEqual([
      "NODE_AUTH_TOKEN is set: trusted publishing needs no token, so there should be none.",
    ]);
    expect(publishProblems(env, "1.2.1")).toEqual(["This is not the tag v1.2.1."]);
  });
});

describe("a release as a whole", () => {
  let place = "";
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "capstan-release-test-"));
    mkdirSync(join(place, "core"));
    writeFileSync(join(place, "core/package.json"), JSON.stringify({ ...core, files: ["index.js"] }));
    writeFileSync(join(place, "core/index.js"), "export const one = 1;\n");
    writeFileSync(join(place, "core/LICENSE"), "MIT\n");
    writeFileSync(join(place, "CHANGELOG.md"), "# Changelog\n\n## 1.2.0 (2026-11-15)\n\n- New.\n");
  });
  afterEach(() => rmSync(place, { recursive: true }));

  it("is packed once, looked at, and compared with what the registry gives: another file is noticed (A122)", async () => {
    const out = join(place, "out");
    const packed = packInto(out, [join(place, "core")]);
    expect(releaseProblems(place, out, packed)).toEqual([]);
    const [{ file = "" } = {}] = packed;
    const served = join(place, "served.tgz");
    copyFileSync(join(out, file), served);
    const registry = await startLoopbackRegistry(join(import.meta.dirname, ".."), [
      { manifest: core, file: served },
    ]);
    const env = {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: place,
      npm_config_registry: registry.url,
      npm_config_prefer_online: "true",
    };
    // In a process of its own: the registry is in this one.
    const module = JSON.stringify(join(import.meta.dirname, "release-tarballs.ts"));
    const differences = async (cache: string): Promise<unknown> => {
      const program = `const { publishedDifferences } = await import(${module});
        console.log(JSON.stringify(publishedDifferences(${JSON.stringify(packed)}, process.env)));`;
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        env: { ...env, npm_config_cache: join(place, cache) },
      });
      return JSON.parse(stdout);
    };
    try {
      expect(await differences("cache-1")).toEqual([]);
      appendFileSync(served, Buffer.alloc(20));
      expect(await differences("cache-2")).toEqual([
        expect.stringMatching(/^core@1\.2\.0 in the registry is sha512-\S+, and sha512-\S+ was built\.$/),
      ]);
    } finally {
      registry.close();
    }
  });
});

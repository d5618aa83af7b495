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
import { checkRelease, checkTarballs, sortByDependency } from "./release.ts";
import {
  checkChangelog,
  checkContents,
  checkManifests,
  checkPublishEnvironment,
  checkUpgradeNotes,
} from "./release-checks.ts";
import { createSbom } from "./release-sbom.ts";
import { packPackages } from "./release-tarballs.ts";

const good = { version: "1.2.0", license: "MIT", repository: { url: "git+https://git.example/capstan.git" } };
const core = { ...good, name: "core" };
const cli = { ...good, name: "cli", dependencies: { core: "1.2.0", zod: "4.6.7" } };

describe("the manifests of a release", () => {
  it("share one version, depend on each other exactly, and run no install scripts (A122)", () => {
    expect(checkManifests([core, cli])).toEqual([]);
    const problems = checkManifests([
      core,
      { ...cli, version: "1.3.0", dependencies: { core: "^1.2.0" }, scripts: { postinstall: "node x.js" } },
    ]);
    expect(problems).toEqual([
      "cli has version 1.3.0, others have 1.2.0.",
      "cli 1.3.0 needs core ^1.2.0, not 1.3.0.",
      'cli needs core "^1.2.0", which is not an exact version.',
      'cli would run "postinstall" on installation.',
    ]);
  });

  it("have a license and a repository", () => {
    expect(checkManifests([{ name: "core", version: "1.0.0" }])).toEqual([
      "core has no license.",
      "core has no repository, which provenance needs.",
    ]);
  });

  it("are published in dependency order", () => {
    expect(sortByDependency([cli, core]).map(({ name }) => name)).toEqual(["core", "cli"]);
  });
});

describe("the changelog of a release", () => {
  it("has a dated section for the version, and nothing unreleased", () => {
    const done = "# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-11-15)\n\n- New.\n";
    expect(checkChangelog(done, "1.2.0")).toEqual([]);
    expect(checkChangelog(done, "1.2.1")).toEqual(['CHANGELOG.md has no section "## 1.2.1 (date)".']);
    expect(checkChangelog("## Unreleased\n\n- More.\n\n## 1.2.0\n", "1.2.0")).toEqual([
      "The section 1.2.0 in CHANGELOG.md has no date.",
      "The section 1.2.0 in CHANGELOG.md is empty.",
      "CHANGELOG.md still has entries under Unreleased.",
    ]);
  });
});

describe("the upgrade notes of a release", () => {
  it("have a section for each minor version", () => {
    const notes = "# Upgrades\n\n## From 1.1 to 1.2\n\nNothing to do.\n";
    expect(checkUpgradeNotes(notes, "1.2.3")).toEqual([]);
    expect(checkUpgradeNotes(notes, "1.3.0-rc.1")).toEqual([
      'docs/upgrades.md has no section "## From … to 1.3".',
    ]);
  });
});

describe("a tarball of a release", () => {
  const createFile = (path: string, text = ""): { path: string; text: string } => ({ path, text });
  const licence = createFile("LICENSE");
  const checkFile = (path: string, text = "") =>
    checkContents(core, [licence, createFile("README.md"), createFile(path, text)], ["/home/ada/"]);

  it.each([
    ["src/run.test.ts", "", "core must not contain src/run.test.ts."],
    ["dist/.env.local", "", "core must not contain dist/.env.local."],
    ["server.pem", "", "core must not contain server.pem."],
    ["dist/a.js", `key = "sk-proj-${"a1".repeat(20)}"`, "core: dist/a.js contains a possible secret."],
    ["dist/a.js", "-----BEGIN RSA PRIVATE KEY-----", "core: dist/a.js contains a possible secret."],
    ["dist/a.js", "at /home/ada/work/a.ts", "core: dist/a.js contains a path of this machine."],
    ["dist/a.js.map", '{"sources":["/build/a.ts"]}', "core: dist/a.js.map names the source /build/a.ts."],
  ])("is refused for %s %s", (path, text, problem) => {
    expect(checkFile(path, text)).toEqual([problem]);
  });

  it("may contain a folder that has the name of one on this machine", () => {
    expect(checkFile("dist/a.js", "/proc/1/home/ada/maps")).toEqual([]);
  });

  it("passes with sources, maps and a license, and contains its exports", () => {
    expect(checkFile("dist/a.js.map", '{"sources":["../src/a.ts"]}')).toEqual([]);
    const manifest = { ...core, exports: { ".": { types: "./dist/a.d.ts", default: "./dist/a.js" } } };
    expect(checkContents(manifest, [createFile("dist/a.js")], [])).toEqual([
      "core lacks dist/a.d.ts.",
      "core lacks LICENSE.",
      "core lacks README.md.",
    ]);
  });
});

describe("the bill of materials", () => {
  it("lists released packages and their dependencies once, without development dependencies", () => {
    const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8"));
    const folders = ["packages/capstan", "packages/tools"];
    const { components } = createSbom(lock, folders);
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["capstan", "@capstan/tools", "re2js", "linkedom"]));
    expect(names).not.toContain("vitest");
    expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
    const others = components.filter(({ name }) => !/^(?:@capstan\/|capstan$)/.test(name));
    expect(others.filter(({ hashes, licenses }) => !hashes || !licenses)).toEqual([]);
    expect(createSbom(lock, folders)).toEqual(createSbom(lock, folders.toReversed()));
  });

  it("fails if the lockfile lacks a dependency", () => {
    const lock = { packages: { "packages/core": { version: "1.0.0", dependencies: { gone: "1.0.0" } } } };
    expect(() => createSbom(lock, ["packages/core"])).toThrow("The lockfile lacks gone");
  });
});

describe("publishing", () => {
  const env = {
    CI: "true",
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://ci.example",
    GITHUB_REF: "refs/tags/v1.2.0",
  };

  it("happens only in CI, on the tag, with trusted publishing and without a token (A122)", () => {
    expect(checkPublishEnvironment(env, "1.2.0")).toEqual([]);
    expect(checkPublishEnvironment({}, "1.2.0")).toHaveLength(3);
    expect(checkPublishEnvironment({ ...env, NODE_AUTH_TOKEN: "x" }, "1.2.0")).toEqual([
      "NODE_AUTH_TOKEN is set: remove it, trusted publishing needs no token.",
    ]);
    expect(checkPublishEnvironment(env, "1.2.1")).toEqual(["This is not the tag v1.2.1."]);
  });
});

describe("a release as a whole", () => {
  let place = "";
  const writeManifest = (exports: object) => {
    const manifest = { ...core, type: "module", files: ["index.js", "index.d.ts"], exports };
    writeFileSync(join(place, "core/package.json"), JSON.stringify(manifest));
  };
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "capstan-release-test-"));
    mkdirSync(join(place, "core"));
    writeManifest({ ".": { types: "./index.d.ts", default: "./index.js" } });
    writeFileSync(join(place, "core/index.js"), "export const one = 1;\n");
    writeFileSync(join(place, "core/index.d.ts"), "export declare const one = 1;\n");
    writeFileSync(join(place, "core/README.md"), "# core\n");
    mkdirSync(join(place, "docs"));
    writeFileSync(join(place, "docs/upgrades.md"), "## From 1.1 to 1.2\n");
    writeFileSync(join(place, "core/LICENSE"), "MIT\n");
    writeFileSync(join(place, "CHANGELOG.md"), "# Changelog\n\n## 1.2.0 (2026-11-15)\n\n- New.\n");
  });
  afterEach(() => rmSync(place, { recursive: true }));

  it("is refused for exports that Node, a bundler or TypeScript cannot use", async () => {
    const check = async (exports: object) => {
      writeManifest(exports);
      const out = join(place, "out");
      return checkTarballs(place, out, packPackages(out, [join(place, "core")]));
    };
    expect(await check({ ".": { default: "./index.js", types: "./index.d.ts" } })).toEqual([
      expect.stringMatching(/^core: .*types.*first/),
      expect.stringMatching(/default.*last/),
    ]);
    const missing = await check({ ".": { types: "./none.d.ts", default: "./index.js" } });
    expect(missing[0]).toBe("core lacks none.d.ts.");
    expect(missing.join("\n")).toContain("core: FallbackCondition at . with node16-esm");
  });

  it("is packed once, inspected, and compared with the registry: a different file is reported (A122)", async () => {
    const out = join(place, "out");
    const packed = packPackages(out, [join(place, "core")]);
    expect(checkRelease(place, out, packed)).toEqual([]);
    expect(await checkTarballs(place, out, packed)).toEqual([]);
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
    // In a separate process, because the registry runs in this one.
    const module = JSON.stringify(join(import.meta.dirname, "release-tarballs.ts"));
    const differences = async (cache: string): Promise<unknown> => {
      const program = `const { comparePublished } = await import(${module});
        console.log(JSON.stringify(comparePublished(${JSON.stringify(packed)}, process.env)));`;
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        env: { ...env, npm_config_cache: join(place, cache) },
      });
      return JSON.parse(stdout);
    };
    try {
      expect(await differences("cache-1")).toEqual([]);
      appendFileSync(served, Buffer.alloc(20));
      expect(await differences("cache-2")).toEqual([
        expect.stringMatching(/^core@1\.2\.0 in the registry is sha512-\S+, but the build is sha512-\S+\.$/),
      ]);
    } finally {
      registry.close();
    }
  });
});

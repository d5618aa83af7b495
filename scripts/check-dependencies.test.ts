import { describe, expect, it } from "vitest";
import {
  checkDependencies,
  checkSettings,
  checkWorkspace,
  type LockEntry,
  type Manifest,
} from "./check-dependencies.ts";

const good: LockEntry = { version: "1.0.0", integrity: "sha512-abc" };
const root: Manifest = { folder: "" };
const core: Manifest = { folder: "packages/core" };

const checkLockEntry = (path: string, entry: LockEntry): string[] =>
  checkDependencies({ packages: { "": {}, "packages/core": {}, [path]: entry } }, [root, core]);

describe("an entry of the lockfile must be a registry package without install script (A121)", () => {
  it.each<[string, string, LockEntry]>([
    ["a registry package", "node_modules/left", good],
    ["a nested scoped registry package", "node_modules/left/node_modules/@a/b", good],
    ["a link to a workspace", "node_modules/core", { link: true, resolved: "packages/core" }],
    [
      "a package inside its parent's archive",
      "node_modules/left/node_modules/in",
      { version: "1.0.0", inBundle: true },
    ],
    [
      "a known script of a package for development",
      "node_modules/fsevents",
      { ...good, version: "2.3.3", hasInstallScript: true, dev: true },
    ],
  ])("is accepted: %s", (_what, path, entry) => {
    expect(checkLockEntry(path, entry)).toEqual([]);
  });

  it.each<[string, string, LockEntry, string]>([
    [
      "an install script",
      "node_modules/left",
      { ...good, hasInstallScript: true },
      "Install script: left@1.0.0 (node_modules/left). Use a version or package without one.",
    ],
    [
      "a known script that would now reach users",
      "node_modules/fsevents",
      { ...good, version: "2.3.3", hasInstallScript: true },
      "Install script: fsevents@2.3.3 (node_modules/fsevents). Use a version or package without one.",
    ],
    [
      "another version of a package with a known script",
      "node_modules/fsevents",
      { ...good, version: "2.3.4", hasInstallScript: true, dev: true },
      "Install script: fsevents@2.3.4 (node_modules/fsevents). Use a version or package without one.",
    ],
    [
      "a git source",
      "node_modules/left",
      { ...good, resolved: "git+ssh://git@host/a/left.git#abc" },
      "Names its source: left@1.0.0 comes from git+ssh://git@host/a/left.git#abc. Take it from the registry, with omit-lockfile-registry-resolved.",
    ],
    [
      "a host",
      "node_modules/left",
      { ...good, resolved: "https://host/left.tgz" },
      "Names its source: left@1.0.0 comes from https://host/left.tgz. Take it from the registry, with omit-lockfile-registry-resolved.",
    ],
    [
      "a link out of the workspace",
      "node_modules/left",
      { link: true, resolved: "../left" },
      "Outside the registry: node_modules/left links to ../left. Make it a workspace or publish it.",
    ],
    [
      "a folder that is no workspace",
      "../left",
      good,
      "Outside the registry: the folder ../left. Make it a workspace or publish it.",
    ],
    [
      "no integrity",
      "node_modules/left",
      { version: "1.0.0" },
      "No integrity: left@1.0.0 (node_modules/left). Remove the entry and run npm install again.",
    ],
  ])("is refused: %s", (_what, path, entry, problem) => {
    expect(checkLockEntry(path, entry)).toEqual([problem]);
  });
});

describe("a range in a manifest must be an exact version in the registry (A121)", () => {
  const checkManifest = (manifest: Omit<Manifest, "folder">): string[] =>
    checkDependencies({ packages: {} }, [{ ...manifest, folder: "packages/core" }]);

  it.each(["1.2.3", "1.2.3-beta.1", "npm:@a/left@1.2.3"])("may be %s", (range) => {
    expect(checkManifest({ dependencies: { left: range } })).toEqual([]);
  });

  it.each([
    "^1.2.3",
    "~1.2.3",
    "1.x",
    "*",
    "",
    "latest",
    ">=1.0.0",
    "npm:left@^1.0.0",
  ])("must be exact, so not %j", (range) => {
    expect(checkManifest({ devDependencies: { left: range } })).toEqual([
      `Not an exact version: "left": "${range}" in packages/core/package.json. Use the version in the lockfile.`,
    ]);
  });

  it.each([
    "git+ssh://git@host/a/left.git",
    "github:a/left",
    "a/left",
    "https://host/left.tgz",
    "file:../left",
    "../left",
  ])("must be in the registry, so not %s", (range) => {
    expect(checkManifest({ optionalDependencies: { left: range } })).toEqual([
      `Outside the registry: "left": "${range}" in packages/core/package.json. Take a published, exact version.`,
    ]);
  });

  it("may be anything for a peer dependency", () => {
    const manifest = { folder: "", peerDependencies: { left: "^1.0.0" } };
    expect(checkDependencies({ packages: {} }, [manifest])).toEqual([]);
  });
});

it("the npm settings disable install scripts and exclude releases of the last week (A121)", () => {
  expect(checkSettings("ignore-scripts=true\nmin-release-age=7\n")).toEqual([]);
  expect(checkSettings("ignore-scripts=false\nmin-release-age=1")).toEqual([
    "Install scripts can run: .npmrc lacks ignore-scripts=true. Restore it.",
    "Brand-new releases can be installed: .npmrc lacks min-release-age=7 (days). Restore it.",
  ]);
  expect(checkSettings("")).toHaveLength(2);
});

it("this workspace has no rejected dependency (A121)", () => {
  expect(checkWorkspace(`${import.meta.dirname}/..`)).toEqual([]);
});

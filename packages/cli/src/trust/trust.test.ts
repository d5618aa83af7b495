import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findUpwards } from "../config/find-upwards.ts";
import { isTrusted, trustFolder } from "./trust.ts";

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

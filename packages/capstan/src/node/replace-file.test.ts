import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replaceFile } from "./replace-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-replace-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const getMode = (path: string) => statSync(path).mode & 0o777;

describe.skipIf(process.platform === "win32")("replaceFile", () => {
  it("creates the file and its folders for the owner only", async () => {
    const file = join(folder, "a", "b", "file.json");
    await replaceFile(file, "one");
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(getMode(file)).toBe(0o600);
    expect(getMode(join(folder, "a", "b"))).toBe(0o700);
  });

  it("replaces the content and uses the given mode", async () => {
    const file = join(folder, "file.json");
    await replaceFile(file, "one");
    await replaceFile(file, "two", { mode: 0o644 });
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(getMode(file)).toBe(0o644 & ~process.umask());
    expect(readdirSync(folder)).toEqual(["file.json"]);
  });

  it("keeps the old file and leaves no temporary file behind when it fails", async () => {
    const target = join(folder, "target");
    mkdirSync(target);
    await expect(replaceFile(target, "text")).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(["target"]);
  });
});

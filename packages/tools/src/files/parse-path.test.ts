import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWithin, parsePath } from "./parse-path.ts";

const getErrorCode = (path: string, roots?: string[]) => {
  try {
    return parsePath(path, roots);
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("a path", () => {
  it.each([
    ["a", ["a"]],
    ["./a//b/", ["a", "b"]],
    ["a/../b", ["b"]],
    ["", []],
    [".", []],
    ["a/..", []],
    [".gitignore", [".gitignore"]],
    ["...x", ["...x"]],
    ["a b/c~", ["a b", "c~"]],
    ["100%.txt", ["100%.txt"]],
    ["日本.txt", ["日本.txt"]],
  ])("%j means the names %j below the root", (path, names) => {
    expect(parsePath(path)).toEqual(names);
  });

  it.each([
    ...["../../etc/passwd", "..\\..", "a/../../b", "....//", "....//....//etc", "%2e%2e/", "%2E%2e%2Fetc"],
    ...[
      "/etc/passwd",
      "/",
      "~/.ssh",
      "~root/x",
      "~",
      "C:\\",
      "C:/x",
      "c:x",
      "\\\\server\\share",
      "\\\\?\\C:\\x",
    ],
    ...["//?/C:/x", "//server/share", "..", "../", "a/b/../../..", "./../x", "a\\b"],
  ])("%j is refused, because it leaves the root (A34)", (path) => {
    expect(getErrorCode(path)).toBe("security");
  });

  it.each([
    ["a NUL byte", "a\0b"],
    ["a line end", "a\nb"],
    ["a carriage return", "a\rb"],
    ["an escape", "a\u001b[2Jb"],
    ["a line separator", "a\u2028b"],
    ["a mark of direction", "a\u202etxt.exe"],
    ["5,000 characters", "a".repeat(5000)],
    ["a name of 256 bytes", "é".repeat(128)],
    ["a lone surrogate", "a\ud800"],
    ["a dot at the end", "a./b"],
    ["a space at the end", "a "],
    ["a device's name", "CON"],
    ["a device's name with an ending", "nul.txt"],
    ["a device's name in a folder", "a/lpt1/b"],
    ["a stream", "file.txt:stream"],
    ["a stream of data", "file.txt::$DATA"],
    ["65 folders", "a/".repeat(65)],
  ])("with %s is refused (A39)", (_, path) => {
    expect(getErrorCode(path)).toBe("security");
  });

  it("has one spelling for every Unicode form (A39)", () => {
    expect(parsePath("cafe\u0301")).toEqual(["caf\u00e9"]);
  });

  it.each([
    "-rf",
    "--upload-pack=x",
    "a/-c",
  ])("%j is refused, because a program could read it as an option (A46)", (path) => {
    expect(getErrorCode(path)).toBe("security");
  });

  it("may be absolute when it is below the root, and is compared name by name (A34)", () => {
    expect(getErrorCode("/data/a", ["/data"])).toEqual(["a"]);
    expect(getErrorCode("/data", ["/data"])).toEqual([]);
    expect(getErrorCode("/data-evil/a", ["/data"])).toBe("security");
    expect(getErrorCode("/data/../etc", ["/data"])).toBe("security");
    expect(getErrorCode("/data/../../data/a", ["/data"])).toBe("security");
    expect(getErrorCode("//data/a", ["/data"])).toBe("security");
    expect(isWithin("/data-evil", "/data")).toBe(false);
  });

  it('becomes names without "..", or is refused, for any input (A34, A39)', () => {
    const pieces = fc.constantFrom(
      "..",
      ".",
      "/",
      "\\",
      "a",
      "~",
      "%2e",
      ":",
      "\0",
      "\ud800",
      " ",
      "é",
      "-",
      "con",
      "...",
    );
    const paths = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(paths, (path) => {
        const names = getErrorCode(path);
        if (names === "security") return;
        for (const name of names) expect(name).toMatch(/^(?!\.{1,2}$)[^/\\\0:]{1,255}$/);
      }),
      { numRuns: 500 },
    );
  });
});

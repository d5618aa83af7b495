import { describe, expect, it } from "vitest";
import { findErrorLocation } from "./find-error-location.ts";

function thrown(stack: string): Error {
  return Object.assign(new Error("boom"), { stack });
}

describe("the place of an error", () => {
  it("is the first line of a syntax error's stack, also if its module URL has a marker", () => {
    const stack =
      "file:///ships/my%20tools.ts?capstan-reading=3:4\nconst a = ;\n          ^\n\nSyntaxError: no";
    expect(findErrorLocation(thrown(stack))).toBe("/ships/my tools.ts:4");
  });

  it("is the innermost frame of the folder, not one of a package that it calls", () => {
    const stack = [
      "Error: boom",
      "    at check (file:///elsewhere/capstan/agent.ts:9:1)",
      "    at load (/ships/node_modules/crane/index.js:2:2)",
      "    at file:///ships/lib/tools.ts:7:11",
      "    at node:internal/modules/esm/loader:647:26",
    ].join("\n");
    expect(findErrorLocation(thrown(stack), "/ships")).toBe("/ships/lib/tools.ts:7:11");
    expect(findErrorLocation(thrown(stack))).toBe("/elsewhere/capstan/agent.ts:9:1");
  });

  it("is unknown where nothing tells it", () => {
    expect(findErrorLocation(thrown("Error: boom\n    at node:internal/timers:1:2"))).toBeUndefined();
    expect(findErrorLocation("boom")).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";

const listNames = (module: object) => Object.keys(module).sort();

describe("public exports", () => {
  it("of logs and file logs (S4-51)", async () => {
    expect(listNames(await import("./index.ts"))).toEqual([
      "jsonLines",
      "maskSecrets",
      "maskedStream",
      "readableLog",
      "reasoningLog",
    ]);
    expect(listNames(await import("./file-logs.ts"))).toEqual(["fileLogs", "sessionFolder"]);
  });
});

import { describe, expect, it } from "vitest";

const namesIn = (module: object) => Object.keys(module).sort();

describe("public exports", () => {
  it("of the logs, and of those in files (S4-51)", async () => {
    expect(namesIn(await import("./index.ts"))).toEqual([
      "jsonLines",
      "maskSecrets",
      "maskedStream",
      "readableLog",
      "reasoningLog",
    ]);
    expect(namesIn(await import("./file-logs.ts"))).toEqual(["fileLogs", "sessionFolder"]);
  });
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";

type Walk = { readonly [name in "inMemory" | "overHttp"]: readonly string[] } & {
  readonly text: string;
  readonly events: string;
};

let walk: Walk;
beforeAll(async () => {
  const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const program = join(import.meta.dirname, "walk.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program], {
    env: { ...process.env, NODE_OPTIONS: "" },
    maxBuffer: 10_000_000,
  });
  walk = JSON.parse(stdout);
});

describe("one message with one tool call", () => {
  it("is answered, in memory and over HTTP", () => {
    expect(walk.text).toBe("7 degrees in Oslo.");
    expect(walk.events).toContain('"type":"done"');
  });

  // Lower a limit when the number falls, so that it does not grow back unnoticed.
  it.each([
    ["inMemory", 101],
    ["overHttp", 145], // on a busy machine with the search for runs of crashed processes, every few seconds
  ] as const)("leads a reader through few files: %s, at most %i", (name, limit) => {
    expect(walk[name].length, walk[name].join("\n")).toBeLessThanOrEqual(limit);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type OwnData, openOwnData } from "@capstan/server";
import { memory } from "capstan/stores/memory";
import { afterEach, beforeEach, expect, it } from "vitest";
import { textLoader } from "../../../server/src/testing/text-loader.ts";
import type { Io } from "../io.ts";
import { loadWithProgress } from "./project-data.ts";

let folder: string;
let data: OwnData;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-project-data-"));
  data = openOwnData({ store: memory(), loaders: { texts: textLoader() }, folder: join(folder, "data") });
});
afterEach(async () => {
  await data.close();
  rmSync(folder, { recursive: true });
});

async function load(
  names: readonly string[],
  terminal: { isTTY?: boolean; columns?: number },
): Promise<string> {
  for (const name of names) writeFileSync(join(folder, name), "");
  const locations = names.map((name) => join(folder, name));
  const { name } = await data.add({
    app: "texts",
    locations: names.length > 2 ? [folder] : locations,
    title: "Trip",
  });
  const stderr = Object.assign(new PassThrough(), terminal);
  const io: Io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {}, cwd: folder };
  const agents = await loadWithProgress(data, name, io);
  expect(agents.map((agent) => agent.name)).toEqual([name]);
  return String(stderr.read());
}

it("replaces one line on a terminal, no longer than the terminal is wide", async () => {
  const text = await load(["a.txt", "b.txt"], { isTTY: true, columns: 24 });
  expect(text.split("\r\u001b[K")).toEqual([
    "",
    "Loading Trip",
    "Loading Trip: 0 of 2 (a",
    "Loading Trip: 1 of 2 (b",
    "texts-trip: 2 texts read.\n",
  ]);
});

it("writes plain lines elsewhere, and the first 20 of what was skipped, harmless for a terminal", async () => {
  const bad = Array.from({ length: 22 }, (_, index) => `${index + 10}\u001b[31m.bin`);
  const text = await load(["a.txt", ...bad], {});
  expect(text).not.toContain("\u001b");
  const lines = text.split("\n");
  expect(lines.slice(0, 2)).toEqual(["Loading Trip…", "texts-trip: 1 text read, 22 skipped:"]);
  expect(lines).toHaveLength(2 + 20 + 2);
  expect(lines.at(-2)).toBe("  … and 2 more");
});

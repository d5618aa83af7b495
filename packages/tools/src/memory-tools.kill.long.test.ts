import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, expect, it } from "vitest";
import { readMemories, writtenOnce } from "./memory/testing/memory-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-memory-"));
afterAll(() => rmSync(folder, { recursive: true }));

const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
const writer = join(import.meta.dirname, "memory/testing/memory-writer-process.ts");

/** Executes the run in a process that kills itself after some writes. Returns its status, or undefined if it was killed. */
async function execute(file: string, writes: number): Promise<string | undefined> {
  const child = promisify(execFile)(process.execPath, [...flags, writer, file, `${writes}`]);
  const { stdout } = await child.catch((error: { signal?: string; stderr?: string }) => {
    if (error.signal !== "SIGKILL") throw new Error(error.stderr);
    return { stdout: undefined };
  });
  return stdout;
}

it.each([
  1, 2, 3, 4,
])("killed with SIGKILL after every few writes, from %i, each change of a memory is made once (F73)", async (first) => {
  const file = join(folder, `${first}.db`);
  let kills = 0;
  let status = await execute(file, first);
  while (status === undefined && kills < 60) {
    kills += 1;
    // Facts and memories are written in turn, so the kills hit both. With too few writes, a run would make no progress.
    status = await execute(file, 2 + ((first + kills) % 4));
  }
  expect([status, kills > 3]).toEqual(["done", true]);
  const store = sqlite(file);
  expect(await readMemories(store)).toEqual(writtenOnce);
  await store.close();
});

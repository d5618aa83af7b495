import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { backupStore, restoreStore, sqlite } from "./sqlite.ts";

let folder = "";
let file = "";
let copy = "";
let writing: ChildProcessWithoutNullStreams | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-backup-"));
  [file, copy] = [join(folder, "store.db"), join(folder, "copy.db")];
});
afterEach(() => {
  writing?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

async function writeFacts(path: string, texts: readonly string[]): Promise<void> {
  const store = sqlite(path);
  const lease = await store.lease("s", "writer", 60_000);
  if (!lease) throw new Error("no lease");
  for (const [index, message] of texts.entries()) {
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 0, at: 0, id: String(index) };
    await store.append([{ type: "warning", code: "c", message, ...origin }], { expected: index, lease });
  }
  await store.release(lease);
  await store.close();
}

async function readIds(path: string): Promise<string[]> {
  const store = sqlite(path);
  const facts = await store.read("s");
  await store.close();
  return facts.map(({ id }) => id);
}

/** Appends numbered facts for ever in another process, and prints the number of each acknowledged fact. */
function startWriter(): ChildProcessWithoutNullStreams {
  const script = `import { writeSync } from "node:fs";
    import { sqlite } from ${JSON.stringify(import.meta.resolve("./sqlite.ts"))};
    const store = sqlite(${JSON.stringify(file)});
    const lease = await store.lease("s", "writer", 600_000);
    for (let expected = 0; ; expected++) {
      const origin = { runId: "r", sessionId: "s", agent: "a", turn: 0, at: 0, id: String(expected) };
      const fact = { type: "warning", code: "c", message: "x".repeat(20_000), ...origin };
      await store.append([fact], { expected, lease });
      writeSync(1, expected + "\\n");
    }`;
  writing = spawn(process.execPath, [
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "-e",
    script,
  ]);
  return writing;
}

describe("a backup of a SQLite store", () => {
  it("made while another process writes has every acknowledged fact, without gaps, and can be written to", async () => {
    const written = createInterface(startWriter().stdout);
    let acknowledged = -1;
    written.on("line", (line) => {
      acknowledged = Number(line);
    });
    const sizes: number[] = [];
    for (let round = 0; round < 3; round++) {
      const enough = acknowledged + 30;
      while (acknowledged < enough) await once(written, "line");
      const before = acknowledged;
      const path = `${copy}.${round}`;
      backupStore(file, path);
      const ids = await readIds(path);
      expect(ids).toEqual(ids.map((_, index) => String(index)));
      expect(ids.length).toBeGreaterThan(before);
      sizes.push(ids.length);
    }
    expect(sizes).toEqual(sizes.toSorted((one, other) => one - other));
    await once(written, "line"); // the writer was not stopped by a lock
    const store = sqlite(`${copy}.0`);
    await store.putBlob("s", { mediaType: "text/plain", data: "more" });
    await store.close();
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  it("is readable only by its owner, and never replaces a file", async () => {
    await writeFacts(file, ["one", "two"]);
    backupStore(file, copy);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(() => backupStore(file, copy)).toThrow(/copy\.db" already exists/);
  });

  it.each([
    ["is missing", undefined, /does not exist/],
    ["is empty", "", /is empty/],
    ["is no database", "canary ".repeat(1_000), /is not a SQLite database/],
  ])("is refused when the file %s, and nothing is left behind", (_, text, message) => {
    if (text !== undefined) writeFileSync(file, text);
    expect(() => backupStore(file, copy)).toThrow(message);
    expect(readdirSync(folder).filter((name) => name !== "store.db")).toEqual([]);
  });
});

describe("restoring a backup", () => {
  it("puts it in the place of the store and keeps the replaced one, even a damaged one", async () => {
    await writeFacts(file, ["old"]);
    backupStore(file, copy);
    rmSync(file);
    await writeFacts(file, ["new", "newer"]);
    expect(() => restoreStore(copy, file)).toThrow(/store\.db" already exists/);
    const replaced = restoreStore(copy, file, { replace: true });
    expect(await readIds(file)).toEqual(["0"]);
    expect(await readIds(replaced ?? "")).toEqual(["0", "1"]);
    writeFileSync(file, "damaged");
    const damaged = restoreStore(copy, file, { replace: true });
    expect(await readIds(file)).toEqual(["0"]);
    expect(readFileSync(damaged ?? "", "utf8")).toBe("damaged");
  });

  it("refuses a damaged backup and a store in use, and leaves the store as it is", async () => {
    await writeFacts(file, ["x".repeat(100_000), "two"]);
    backupStore(file, copy);
    const bytes = readFileSync(copy);
    writeFileSync(join(folder, "damaged.db"), bytes.fill(0xff, 4096 * 3, 4096 * 6));
    expect(() => restoreStore(join(folder, "damaged.db"), file, { replace: true })).toThrow(/damaged/);
    const store = sqlite(file);
    expect(() => restoreStore(copy, file, { replace: true })).toThrow(/is in use. Stop the processes/);
    expect((await store.read("s")).length).toBe(2);
    await store.close();
    expect(await readIds(file)).toEqual(["0", "1"]);
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "damaged.db", "store.db"]);
  });
});

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { type BigIntStats, chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { withOrdinaryRights } from "@capstan/verification/ordinary-rights";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withDirectory } from "./directory.ts";
import { replaceInDirectory } from "./replace-in-directory.ts";
import { resolveRoot } from "./root.ts";
import { createTemporaryRoot, type TemporaryRoot } from "./testing/temporary-root.ts";

let place: TemporaryRoot;
beforeEach(() => {
  place = createTemporaryRoot();
});
afterEach(() => place.remove());

const sources = new URL("../file-tools.ts", import.meta.url).href;
const flags = ["--conditions=capstan-source", "--input-type=module", "-e"];

/** A program that defines `makeWrite()`, which returns `write(path, content)`; a write resolves to its outcome. */
const program = (root: string, body: string) => `
  import { fileTools } from ${JSON.stringify(sources)};
  import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
  const root = ${JSON.stringify(root)};
  const report = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
  const makeWrite = (tool = fileTools({ root }).find(({ name }) => name === "write_file")) => (path, content) =>
    tool.execute({ path, content }, { runId: String(Math.random()), signal: new AbortController().signal })
      .then(() => "written", ({ code, message, retryable }) => ({ code, message, retryable }));
  ${body}
`;
/** Runs the program in a shell command that refers to it as "$@". */
const runUnder = (shell: string, code: string): unknown =>
  JSON.parse(
    execFileSync("bash", ["-c", shell, "bash", process.execPath, ...flags, code], { encoding: "utf8" }),
  );

const isLinux = process.platform === "linux";

describe("a file that is being written", () => {
  it("has the old or the new content after a crash at any instant (A41)", async () => {
    const file = place.put("a.txt", "0".repeat(3_000_000));
    const body = (first: number) => `
      const write = makeWrite();
      report("ready");
      for (let n = ${first}; ; n++) {
        await write("a.txt", String(n % 10).repeat(3_000_000));
        report("written");
      }
    `;
    const versions = new Set<string>();
    for (let kills = 0; kills < 5; kills++) {
      const child = spawn(process.execPath, [...flags, program(place.path, body(kills + 1))], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      // Killed during the write that follows this many complete ones.
      for (let reports = 0; reports <= kills; reports++) await lines.next();
      await setTimeout(Math.random() * 20);
      child.kill("SIGKILL");
      await once(child, "exit");
      const content = readFileSync(file, "utf8");
      expect(content.length).toBe(3_000_000);
      expect(content).toBe(content.charAt(0).repeat(3_000_000));
      versions.add(content.charAt(0));
    }
    expect(versions.size).toBeGreaterThan(1);
    expect(await place.text("list_files", {})).toBe("a.txt");
  });

  it("is never seen half written by another process (A41)", async () => {
    const file = place.put("a.txt", "0".repeat(1_000_000));
    let isDone = false;
    const writing = (async () => {
      for (let n = 0; n < 15; n++)
        await place.call("write_file", { path: "a.txt", content: String(n % 10).repeat(1_000_000) });
      isDone = true;
    })();
    while (!isDone) {
      const content = readFileSync(file, "utf8");
      expect(content === content.charAt(0).repeat(1_000_000)).toBe(true);
      await setTimeout(0);
    }
    await writing;
  });

  it("does not overwrite changes saved since it was read", async () => {
    const file = place.put("a.txt", "old");
    const content = Buffer.from("new");
    const write = (seen: BigIntStats | undefined) =>
      withDirectory(resolveRoot({ root: place.path }), [], (directory) =>
        replaceInDirectory(directory, { name: "a.txt", content, previous: seen }),
      );
    const seen = statSync(file, { bigint: true });
    writeFileSync(file, "saved by a person");
    for (const stale of [seen, undefined])
      await expect(write(stale)).rejects.toThrow("was changed by another program. Nothing was written");
    expect(readFileSync(file, "utf8")).toBe("saved by a person");
    expect(readdirSync(place.path)).toEqual(["a.txt"]);
    await write(statSync(file, { bigint: true }));
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  it.runIf(isLinux)("keeps its old content when the system's size limit is reached (A41)", () => {
    place.put("a.txt", "old");
    const body = `report([await makeWrite()("a.txt", "x".repeat(500_000))]);`;
    const [outcome] = runUnder(
      "trap '' XFSZ; ulimit -f 64; exec \"$@\"",
      program(place.path, body),
    ) as unknown[];
    expect(outcome).toEqual({
      code: "tool_failed",
      message: 'Cannot write "a.txt": the file would exceed the system\'s size limit.',
      retryable: false,
    });
    expect(readdirSync(place.path)).toEqual(["a.txt"]);
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("old");
  });

  it.runIf(isLinux)("keeps its old content when the disk is full (A41)", ({ skip }) => {
    try {
      execFileSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", place.path], { stdio: "ignore" });
    } catch {
      skip("this system lets nobody mount a small disk");
    }
    const body = `
      writeFileSync(root + "/a.txt", "old");
      const outcome = await makeWrite()("a.txt", "x".repeat(500_000));
      report({ outcome, content: readFileSync(root + "/a.txt", "utf8"), names: readdirSync(root) });
    `;
    const shell = `mount -t tmpfs -o size=128k none '${place.path}' && exec "$@"`;
    expect(runUnder(`exec unshare -rm bash -c ${quote(shell)} bash "$@"`, program(place.path, body))).toEqual(
      {
        outcome: {
          code: "tool_failed",
          message: 'Cannot write "a.txt": the disk is full.',
          retryable: false,
        },
        content: "old",
        names: ["a.txt"],
      },
    );
  });

  it.runIf(isLinux)("keeps its old content when the folder is read-only (A41)", () => {
    place.put("a.txt", "old");
    chmodSync(place.path, 0o555);
    const body = `
      const write = makeWrite();
      report([await write("a.txt", "new"), await write("b/c.txt", "new")]);
    `;
    const denied = (path: string) => ({
      code: "tool_failed",
      message: `Cannot write "${path}": permission denied.`,
      retryable: false,
    });
    const outcomes = runUnder(`exec ${withOrdinaryRights(['"$@"']).join(" ")}`, program(place.path, body));
    chmodSync(place.path, 0o755); // else only root can remove the folder
    expect(outcomes).toEqual([denied("a.txt"), denied("b/c.txt")]);
    expect(readFileSync(join(place.path, "a.txt"), "utf8")).toBe("old");
    expect(readdirSync(place.path)).toEqual(["a.txt"]);
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqlite } from "./sqlite.ts";

let folder = "";
let file = "";
const processes: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-sqlite-"));
  file = join(folder, "store.db");
});
afterEach(() => {
  for (const running of processes.splice(0)) running.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const sessions = ["s0", "s1", "s2"];

// Appends numbered facts to three sessions at once, for ever, and says of each that it is stored.
const writer = `
const store = sqlite(file);
await Promise.all(${JSON.stringify(sessions)}.map(async (sessionId) => {
  const lease = await store.lease(sessionId, "writer", 60_000);
  for (let expected = (await store.read(sessionId)).length; ; expected++) {
    const origin = { runId: "r", sessionId, agent: "a", turn: 0, at: 0, id: String(expected) };
    const fact = { type: "warning", code: String(expected), message: "x".repeat(expected % 5_000), ...origin };
    await store.append([fact], { expected, lease });
    writeSync(1, sessionId + " " + expected + "\\n");
  }
}));`;

it("after kill -9 at any time every acknowledged fact exists, without gaps, and the next append continues (F73)", async () => {
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < 10; round++) {
    const running = started(writer);
    const said = createInterface(running.stdout).on("line", (line) => {
      const [sessionId = "", number] = line.split(" ");
      acknowledged.set(sessionId, Number(number));
    });
    await once(said, "line");
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
    running.kill("SIGKILL");
    await Promise.all([once(running, "exit"), once(said, "close")]);
    const store = sqlite(file);
    for (const sessionId of sessions) {
      const facts = await store.read(sessionId);
      expect(facts.length).toBeGreaterThan(acknowledged.get(sessionId) ?? -1);
      expect(facts.map((fact) => [fact.seq, fact.id])).toEqual(
        facts.map((_, index) => [index + 1, `${index}`]),
      );
    }
    await store.close();
  }
  expect(acknowledged.get("s0")).toBeGreaterThan(10);
});

it("a process that only watches can exit, and is notified of other writes until then", async () => {
  const running = started(`
const store = sqlite(file, { pollMs: 20 });
store.watch("s1", (news) => writeSync(1, JSON.stringify(news) + "\\n"));
writeSync(1, "watching\\n");
process.stdin.once("data", () => process.stdin.destroy());`);
  const lines = createInterface(running.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("watching");
  const store = sqlite(file);
  const lease = await store.lease("s1", "ann", 60_000);
  if (!lease) throw new Error("no lease");
  const origin = { runId: "r", sessionId: "s1", agent: "a", turn: 0, at: 0, id: "0" };
  await store.append([{ type: "warning", code: "c", message: "", ...origin }], { expected: 0, lease });
  expect((await lines.next()).value).toBe('{"type":"facts"}');
  running.stdin.end("enough");
  expect(await once(running, "exit")).toEqual([0, null]);
  await store.close();
});

function started(
  code: string,
): ChildProcess & { stdout: NodeJS.ReadableStream; stdin: NodeJS.WritableStream } {
  const script = `import { writeSync } from "node:fs";
    import { sqlite } from ${JSON.stringify(import.meta.resolve("./sqlite.ts"))};
    const file = ${JSON.stringify(file)};${code}`;
  const argv = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script];
  const running = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  processes.push(running);
  return running;
}

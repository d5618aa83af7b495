import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "capstan-program-"));
afterAll(() => rmSync(folder, { recursive: true }));

const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
const program = join(import.meta.dirname, "testing/program-process.ts");

/** Executes the run in a process that kills itself after some facts. Returns its output, or undefined if it was killed. */
async function execute(store: string, trace: string, facts: number): Promise<string | undefined> {
  const child = promisify(execFile)(process.execPath, [...flags, program, store, trace, `${facts}`]);
  const { stdout } = await child.catch((error: { signal?: string; stderr?: string }) => {
    if (error.signal !== "SIGKILL") throw new Error(error.stderr);
    return { stdout: undefined };
  });
  return stdout?.trim();
}

/** Facts before the next kill. With too few, a run would make no progress. */
const chooseDistance = (kills: number): number => 2 + (kills % 9);

it("killed again and again with SIGKILL, a program ends with each of its calls made once (F73, A138)", async () => {
  const [file, trace] = [join(folder, "store.db"), join(folder, "trace")];
  let kills = 0;
  let text = await execute(file, trace, chooseDistance(0));
  while (text === undefined && kills < 60) {
    kills += 1;
    text = await execute(file, trace, chooseDistance(kills));
  }
  expect(kills).toBeGreaterThanOrEqual(3);
  expect(text).toBeDefined();
  const executions = readFileSync(trace, "utf8").trim().split("\n");
  const store = sqlite(file);
  const facts = await store.read("session");
  await store.close();
  const starts = new Map<string, number>();
  for (const fact of facts)
    if (fact.type === "tool_call_start")
      starts.set(`${fact.runId}/${fact.id}`, (starts.get(`${fact.runId}/${fact.id}`) ?? 0) + 1);
  for (const key of new Set(executions)) {
    const name = facts.find((fact) => fact.type === "tool_call_start" && key === `${fact.runId}/${fact.id}`);
    const count = executions.filter((other) => other === key).length;
    // Only a call without effects is repeated, if the process was killed before its result was stored.
    const mayRepeat = name?.type === "tool_call_start" && ["get_order", "fail"].includes(name.name);
    expect(count, key).toBeLessThanOrEqual(mayRepeat ? (starts.get(key) ?? 0) : 1);
  }
  expect(facts.at(-1)).toMatchObject({ type: "done", status: "done" });
});

import type { ToolContext } from "capstan";
import { changeMemories, loadMemories, type MemoryChange } from "capstan/memories";
import type { AuditedStore } from "./audited-store.ts";
import type { World } from "./world.ts";

const owner = { user: "", scope: "user" };
const path = "/memories/calls.md";

/** The tool that writes a memory in some worlds. It is idempotent, so a takeover repeats it. */
export const rememberingTool = "keyed";

/** Appends a line to the memory that all runs of the world share. A repeated call must not append a second one. */
export async function rememberCall({ records, idempotencyKey }: ToolContext): Promise<void> {
  if (!records) throw new Error("A run has the records of its store.");
  const change: MemoryChange = (memories) => {
    const text = `${memories[0]?.text ?? ""}${idempotencyKey}\n`;
    return [{ path, text, provenance: "operator" }];
  };
  await changeMemories(records, owner, { change, now: 0, idempotencyKey });
}

/** Compares the memory with the results in the log: a line for each call that succeeded, and none twice. */
export async function checkMemories(world: World, { records, facts }: AuditedStore): Promise<void> {
  if (!(await records.getRecord("memory:", owner.scope))) return;
  const [memory] = await loadMemories(records, owner);
  const lines = (memory?.text ?? "").trim().split("\n");
  const twice = lines.find((line, index) => lines.indexOf(line) !== index);
  if (twice !== undefined) world.reportViolation("a call changes a memory once", twice);
  for (const { runId, calls } of facts.runs.values())
    for (const [callId, { name, result }] of calls)
      if (name === rememberingTool && result?.status === "ok" && !lines.includes(`${runId}/${callId}`))
        world.reportViolation("no call is reported as done that was not executed", `${runId}/${callId}`);
}

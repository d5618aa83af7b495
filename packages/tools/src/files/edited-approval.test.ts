import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fileTools } from "../file-tools.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "capstan-edited-"));
  writeFileSync(join(root, "a.py"), "def greet():\n    pass\n");
});
afterEach(() => rmSync(root, { recursive: true }));

const input = { path: "a.py", edits: [{ find: "greet", replace: "welcome" }] };

async function startEdit() {
  const model = scriptedModel([{ calls: [{ id: "c1", name: "edit_file", input }] }, { text: "Done." }]);
  const agent = defineAgent({ name: "coder", model, tools: fileTools({ root }) });
  const handle = run(agent, "Rename greet in a.py", { store: memory() });
  await handle;
  return { handle }; // a handle is awaitable
}

it("a change that the user edited is made as edited", async () => {
  const { handle } = await startEdit();
  const result = await handle.approveWith("c1", {
    path: "a.py",
    edits: [{ find: "greet", replace: "hello" }],
  });
  expect(result.toolCalls).toMatchObject([{ status: "ok" }]);
  expect(readFileSync(join(root, "a.py"), "utf8")).toBe("def hello():\n    pass\n");
});

it("an edited change that cannot be made is an error for the model, and changes nothing", async () => {
  const { handle } = await startEdit();
  const result = await handle.approveWith("c1", { path: "a.py", edits: [{ find: "absent", replace: "x" }] });
  expect(result.toolCalls).toMatchObject([{ status: "error", result: expect.stringContaining("not found") }]);
  expect(readFileSync(join(root, "a.py"), "utf8")).toContain("def greet");
});

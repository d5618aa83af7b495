import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileTools, shellTool } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

test("the agent shows a change before it is made, and makes it once you approve", async () => {
  const folder = await mkdtemp(join(tmpdir(), "coder-"));
  await writeFile(join(folder, "sum.js"), "export const sum = (a, b) => a - b;\n");
  // A scripted model: no key, no network, deterministic.
  const model = scriptedModel([
    { calls: [{ name: "read_file", input: { path: "sum.js" } }] },
    {
      calls: [{ name: "edit_file", input: { path: "sum.js", edits: [{ find: "a - b", replace: "a + b" }] } }],
    },
    { text: "It adds now." },
  ]);
  const tools = [...fileTools({ root: folder }), shellTool({ cwd: folder })];
  const work = run(defineAgent({ name: "coder", model, tools }), "Fix sum.js.");
  const { pending } = await work;
  assert.equal(pending[0]?.name, "edit_file");
  const result = await work.approve(pending[0]?.callId ?? "");
  assert.equal(result.text, "It adds now.");
  assert.match(await readFile(join(folder, "sum.js"), "utf8"), /a \+ b/);
});

// An agent for one folder: it keeps a plan, reads a file, and needs approval to write.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileTools, planTool } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const root = mkdtempSync(join(tmpdir(), "capstan-files-"));
writeFileSync(join(root, "notes.md"), "# Notes\n\nBuy mlik.\n");

const model = scriptedModel([
  { calls: [{ name: "plan", input: { items: [{ text: "Correct the notes", status: "doing" }] } }] },
  { calls: [{ name: "read_file", input: { path: "notes.md" } }] },
  {
    calls: [{ name: "edit_file", input: { path: "notes.md", edits: [{ find: "mlik", replace: "milk" }] } }],
  },
  { calls: [{ name: "read_file", input: { path: "../../etc/passwd" } }] },
  { text: "The notes are correct now." },
]);
const agent = defineAgent({
  name: "editor",
  model,
  tools: [...fileTools({ root }), planTool()],
});

const editing = run(agent, "Correct my notes.");
const asked = await editing;
console.log(asked.pending[0]?.reason);
for (const { callId } of asked.pending) editing.approve(callId);

const result = await editing;
console.log(readFileSync(join(root, "notes.md"), "utf8").trim());
console.log(result.toolCalls.map(({ name, status }) => `${name}: ${status}`).join(", "));

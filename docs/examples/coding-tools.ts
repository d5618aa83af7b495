// The tools of a coding agent: it runs commands in a sandbox and edits files. The user approves one command, allows its
// pattern for the session, and sees the diff before a file changes.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileTools, shellTool } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { addApprovalRule, describeScope } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const cwd = mkdtempSync(join(tmpdir(), "capstan-coding-"));
writeFileSync(join(cwd, "add.js"), "export const add = (a, b) => a - b;\n");

const shell = shellTool({ cwd, sandbox: "auto" });
console.log(shell.sandbox.type === "none" ? `No sandbox: ${shell.sandbox.reason}` : "Sandboxed.");

const model = scriptedModel([
  { calls: [{ name: "shell", input: { command: ["grep", "-n", "add", "add.js"] } }] },
  { calls: [{ name: "read_file", input: { path: "add.js" } }] },
  { calls: [{ name: "edit_file", input: { path: "add.js", edits: [{ find: "a - b", replace: "a + b" }] } }] },
  { calls: [{ name: "shell", input: { command: ["grep", "-c", "a + b", "add.js"] } }] },
  { text: "`add` adds now." },
]);
const agent = defineAgent({ name: "coder", model, tools: [shell, ...fileTools({ root: cwd })] });

const store = memory();
const working = run(agent, "Correct add().", { store });
let result = await working;
while (result.status === "waiting") {
  for (const call of result.pending) {
    console.log(call.reason);
    // What the call would do: the diff of an edit.
    if (call.ui) console.log(JSON.stringify(call.ui.props));
    if (call.pattern) {
      console.log(`allowed: ${describeScope(call.name, call.pattern)}`);
      const { sessionId, runId } = result;
      await addApprovalRule(store, { sessionId, runId, covers: "pattern" }, call);
    }
    working.approve(call.callId);
  }
  result = await working;
}
console.log(result.toolCalls.map(({ name, status }) => `${name}: ${status}`).join(", "));

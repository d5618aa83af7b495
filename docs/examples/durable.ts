import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool } from "capstan";
import { local } from "capstan/engines/local";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";

// This program starts itself as a second process and kills it in the middle of a tool call.
const isDoomed = process.argv[2] !== undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "capstan-"));

const read = defineTool({
  name: "read",
  description: "Reads a report",
  input: {},
  effects: "none", // safe to repeat, so it runs again after a crash
  execute: () => (isDoomed ? new Promise<string>(() => process.send?.("reading")) : "Sales are up."),
});
const send = defineTool({
  name: "send",
  description: "Sends a mail",
  input: {},
  effects: "send",
  needsApproval: true,
  execute: () => "Sent.",
});
const model = scriptedModel(({ history }) => {
  const last = history.at(-1);
  if (last?.type !== "result") return { calls: [{ name: "read", input: {} }] };
  return last.name === "read"
    ? { calls: [{ name: "send", input: {} }] }
    : { text: "The report is on its way." };
});
const agent = defineAgent({ name: "secretary", model, tools: [read, send] });

const store = sqlite(join(folder, "capstan.db"));
const engine = local({ store, agents: agent, leaseMs: 2_000 });

if (isDoomed) await engine.run(agent, "Mail the report.", { runId: "run_1" });

const doomed = spawn(process.execPath, [...process.execArgv, import.meta.filename, folder], {
  stdio: ["ignore", "inherit", "inherit", "ipc"],
});
await once(doomed, "message");
doomed.kill("SIGKILL");
console.log("the first process was killed in the middle of a call");

// The lease of the dead process expires, so this process takes over the run.
const run = engine.open("run_1");
const waiting = await run;
console.log(`taken over: ${waiting.text}`);

// Days later, in any process that has the store and the agent:
const result = await run.approve(waiting.pending[0]?.callId ?? "");
console.log(`${result.status}: ${result.text}`);

await engine.close();
await store.close();
rmSync(folder, { recursive: true });

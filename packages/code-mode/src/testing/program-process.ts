// Starts or resumes one run of a program on a SQLite file, and kills itself after some facts.
// Arguments: the file of the store, the file for the executions of tools, and the number of facts.
import { appendFileSync } from "node:fs";
import { type Run, resume, run } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { createProgramAgent, orderProgram } from "./program-agent.ts";

const [, , file = "", traceFile = "", facts = "0"] = process.argv;
const store = sqlite(file);
const { append, lease } = store;
let remaining = Number(facts);
store.append = async (added, options) => {
  const result = await append.call(store, added, options);
  remaining -= added.length;
  if (remaining <= 0) process.kill(process.pid, "SIGKILL");
  return result;
};
// The process before has been killed, so its lease need not expire first.
store.lease = (sessionId, owner, ms) => lease.call(store, sessionId, owner, ms, { takeOver: true });
const executed: string[] = [];
executed.push = (...keys) => {
  for (const key of keys) appendFileSync(traceFile, `${key}\n`);
  return 0;
};

const agent = createProgramAgent(orderProgram, { executed });
const hasStarted = (await store.list()).length > 0;
const handle: Run = hasStarted
  ? resume(agent, { store, runId: "run" })
  : run(agent, "Go.", { store, session: "session", runId: "run" });
for (;;) {
  const { status, pending, text } = await handle;
  if (status !== "waiting") {
    process.stdout.write(text);
    break;
  }
  for (const { callId } of pending) handle.approve(callId);
}
await store.close();

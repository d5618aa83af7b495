// Starts or resumes the run of the memory writer on a SQLite file, and kills itself after some writes.
// Arguments: the file of the store, and the number of writes.
import { type Run, resume, run } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { createMemoryWriter } from "./memory-writer.ts";

const [, , file = "", writes = "0"] = process.argv;
const store = sqlite(file);
const { append, lease, putRecord } = store;
let remaining = Number(writes);
const countWrite = <Value>(value: Value): Value => {
  remaining -= 1;
  if (remaining <= 0) process.kill(process.pid, "SIGKILL");
  return value;
};
store.append = async (facts, at) => countWrite(await append.call(store, facts, at));
store.putRecord = async (record, version) => countWrite(await putRecord.call(store, record, version));
// The process before has been killed, so its lease need not expire first.
store.lease = (sessionId, owner, ms) => lease.call(store, sessionId, owner, ms, { takeOver: true });

const agent = createMemoryWriter();
const hasStarted = (await store.list()).length > 0;
const handle: Run = hasStarted
  ? resume(agent, { store, runId: "run" })
  : run(agent, "Go.", { store, session: "session", runId: "run" });
process.stdout.write((await handle).status);
await store.close();

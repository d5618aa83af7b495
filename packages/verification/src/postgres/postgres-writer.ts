// Runs in its own process: appends numbered facts to the session "s" and prints the number of each acknowledged fact.

import { postgres } from "capstan/stores/postgres";
import pg from "pg";

const [url = "", leaseMs = "300"] = process.argv.slice(2);
const store = postgres(new pg.Pool({ connectionString: url }));
const owner = `process ${process.pid}`;

let lease = await store.lease("s", owner, Number(leaseMs));
while (!lease) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  lease = await store.lease("s", owner, Number(leaseMs));
}
for (let position = (await store.read("s")).length; ; position += 1) {
  const origin = { runId: "r", sessionId: "s", agent: "a", turn: 0, at: 0 };
  const code = String(position + 1);
  const fact = { ...origin, id: code, type: "warning" as const, code, message: "x".repeat(500) };
  await store.append([fact], { expected: position, lease });
  process.stdout.write(`${code}\n`);
}

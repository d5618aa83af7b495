// Test server in a child process that tests kill. The first argument is its order as JSON. Prints its address as a
// line of JSON. Shuts down on SIGTERM and when stdin ends.
import { appendFileSync, writeSync } from "node:fs";
import type { Store } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";
import type { QuotaSettings } from "../access/quotas.ts";
import { createServer } from "../create-server.ts";
import { listen } from "../listen.ts";
import { createSlowAgent } from "./slow-agent.ts";

export type ServerOrder = {
  readonly store:
    | { readonly type: "sqlite"; readonly file: string }
    | { readonly type: "postgres"; readonly url: string };
  /** 0 picks a free port. */
  readonly port: number;
  /** Receives a line for every tool execution. */
  readonly canary: string;
  /** Short where a server is killed; long where a live one must keep its runs on a busy machine. */
  readonly leaseMs?: number;
  readonly quotas?: QuotaSettings;
  /** How long SIGTERM waits for active work; 2 s by default. */
  readonly patienceMs?: number;
};

export type ServerAddress = { readonly url: string; readonly port: number };

function openWorkerStore({ store }: ServerOrder): Store {
  if (store.type === "sqlite") return sqlite(store.file, { pollMs: 50 });
  const pool = new pg.Pool({ connectionString: store.url, max: 4 });
  pool.on("error", () => undefined); // the pool replaces broken idle connections
  return postgres(pool);
}

async function runServer(order: ServerOrder): Promise<void> {
  const store = openWorkerStore(order);
  const agent = createSlowAgent((line) => appendFileSync(order.canary, `${line}\n`));
  const server = createServer({
    agents: [agent],
    store,
    leaseMs: order.leaseMs ?? 1000,
    ...(order.quotas && { quotas: order.quotas }),
  });
  const { url, port, close } = await listen(server, { port: order.port });
  process.stdin.resume().on("end", () => process.exit(0));
  process.once("SIGTERM", () => void close(order.patienceMs ?? 2000).then(() => process.exit(0)));
  const reachable: ServerAddress = { url, port };
  writeSync(1, `${JSON.stringify(reachable)}\n`);
}

await runServer(JSON.parse(process.argv[2] ?? "{}"));

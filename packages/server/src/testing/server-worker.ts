// A server in a process of its own, for tests that kill it. Its order is the first argument, as JSON. It says on its
// output, a line of JSON, where it can be reached. It leaves on SIGTERM, and when its input ends.
import { appendFileSync, writeSync } from "node:fs";
import type { Store } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";
import { createServer } from "../create-server.ts";
import { listen } from "../listen.ts";
import { slowAgent } from "./slow-agent.ts";

/** How a server is to be. */
export type ServeOrder = {
  readonly store:
    | { readonly type: "sqlite"; readonly file: string }
    | { readonly type: "postgres"; readonly url: string };
  /** 0 takes one that is free. */
  readonly port: number;
  /** The file that every execution of a tool is written to. */
  readonly canary: string;
};

/** What it says when it can be reached. */
export type Reachable = { readonly url: string; readonly port: number };

function openStore({ store }: ServeOrder): Store {
  if (store.type === "sqlite") return sqlite(store.file, { pollMs: 50 });
  const pool = new pg.Pool({ connectionString: store.url, max: 4 });
  pool.on("error", () => undefined); // an idle connection that breaks is replaced at its next use
  return postgres(pool);
}

async function serve(order: ServeOrder): Promise<void> {
  const store = openStore(order);
  const agent = slowAgent((line) => appendFileSync(order.canary, `${line}\n`));
  const server = createServer({ agents: [agent], store, leaseMs: 1000 });
  const { url, port, close } = await listen(server, { port: order.port });
  process.stdin.resume().on("end", () => process.exit(0));
  process.once("SIGTERM", () => void close(2000).then(() => process.exit(0)));
  const reachable: Reachable = { url, port };
  writeSync(1, `${JSON.stringify(reachable)}\n`);
}

await serve(JSON.parse(process.argv[2] ?? "{}"));

// Test server in a child process that tests kill. The first argument is its order as JSON. Prints its address as a
// line of JSON. Shuts down on SIGTERM and when stdin ends.
import { appendFileSync, writeSync } from "node:fs";
import type { Store } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";
import type { QuotaSettings } from "../access/quotas.ts";
import { createServer, type ServerOptions } from "../create-server.ts";
import { listen } from "../listen.ts";
import type { WebhookDelivery } from "../webhooks/webhook.ts";
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
  /** A webhook `tickets` that replies to a port of this machine. */
  readonly webhook?: {
    readonly secret: string;
    readonly replyPort: number;
    /** Kills the process: when the request is stored and its run is not, or when the run has ended. */
    readonly diesWhen?: "received" | "ended";
  };
};

export type ServerAddress = { readonly url: string; readonly port: number };

function openWorkerStore({ store }: ServerOrder): Store {
  if (store.type === "sqlite") return sqlite(store.file, { pollMs: 50 });
  const pool = new pg.Pool({ connectionString: store.url, max: 4 });
  pool.on("error", () => undefined); // the pool replaces broken idle connections
  return postgres(pool);
}

const killSelf = (): void => void process.kill(process.pid, "SIGKILL");

/** Kills the process after it has stored that a result is to be sent. */
function withDeath(store: Store): Store {
  return {
    ...store,
    async putRecord(record, version) {
      const stored = await store.putRecord(record, version);
      if (record.kind === "deliveries") killSelf();
      return stored;
    },
  };
}

function buildWebhookOptions({ webhook }: ServerOrder): Pick<ServerOptions, "webhooks" | "onEvent"> {
  if (!webhook) return {};
  const { secret, replyPort, diesWhen } = webhook;
  const guard = { allowHttp: true, allowPrivate: true, ports: [replyPort], totalMs: 500 };
  const reply = { url: `http://127.0.0.1:${replyPort}/`, secret, guard };
  const toText = ({ payload }: WebhookDelivery) => JSON.stringify(payload);
  return {
    webhooks: { tickets: { provider: "generic", secret, reply, toText } },
    onEvent: ({ type }) => (type === "done" && diesWhen === "ended" ? killSelf() : undefined),
  };
}

async function runServer(order: ServerOrder): Promise<void> {
  const opened = openWorkerStore(order);
  const store = order.webhook?.diesWhen === "received" ? withDeath(opened) : opened;
  const agent = createSlowAgent((line) => appendFileSync(order.canary, `${line}\n`));
  const server = createServer({
    agents: [agent],
    store,
    leaseMs: order.leaseMs ?? 1000,
    ...(order.quotas && { quotas: order.quotas }),
    ...buildWebhookOptions(order),
  });
  const { url, port, close } = await listen(server, { port: order.port });
  process.stdin.resume().on("end", () => process.exit(0));
  process.once("SIGTERM", () => void close(order.patienceMs ?? 2000).then(() => process.exit(0)));
  const reachable: ServerAddress = { url, port };
  writeSync(1, `${JSON.stringify(reachable)}\n`);
}

await runServer(JSON.parse(process.argv[2] ?? "{}"));

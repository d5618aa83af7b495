// One of the two servers of streams.ts, in its own process: `bare` is plain Hono, `capstan` streams the events of runs.
// Both send the same pieces, each with its index and the time it was sent.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createServer, listen } from "@capstan/server";
import { serve } from "@hono/node-server";
import { defineAgent, type Model } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { StreamOrder } from "./streams.ts";

export type ServerMessage =
  | { readonly type: "ready"; readonly port: number; readonly healthPort?: number | undefined }
  | { readonly type: "used"; readonly cpuUs: number; readonly heapBytes: number; readonly streams: number };

const [kind, text] = process.argv.slice(2);
/** `isStored`: keep sessions in SQLite, and limit the number of runs, as a server does by default. */
const order: StreamOrder & { readonly isStored?: boolean } = JSON.parse(text ?? "");
let openStreams = 0;

/** A piece with its index and the time it was sent. */
const formatPiece = (index: number, padding = ""): string => `${index}@${process.hrtime.bigint()};${padding}`;

async function* generatePieces({ count, everyMs }: StreamOrder, padding: string): AsyncGenerator<string> {
  const begin = performance.now();
  openStreams++;
  for (let index = 0; index < count; index++) {
    await wait(Math.max(0, begin + (index + 1) * everyMs - performance.now()));
    yield formatPiece(index, padding);
  }
  openStreams--;
}

type Ports = { readonly port: number; readonly healthPort?: number | undefined };

async function startBareServer(): Promise<Ports> {
  const app = new Hono();
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/events", (context) =>
    streamSSE(context, async (stream) => {
      let id = 0;
      for await (const delta of generatePieces(order, "")) {
        const event = {
          ...{ type: "content_delta", runId: "run_1", sessionId: "ses_1", agent: "helper", turn: 1 },
          delta,
        };
        await stream.writeSSE({ id: `${++id}`, event: event.type, data: JSON.stringify(event) });
      }
    }),
  );
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve({ port }));
  });
}

async function startCapstanServer(): Promise<Ports> {
  const model: Model = {
    id: "paced",
    async *stream({ history }) {
      const last = history.at(-1);
      const isLoud = last?.type === "user" && last.content === "loud";
      for await (const text of generatePieces(order, isLoud ? "x".repeat(20_000) : ""))
        yield [{ type: "text", text }];
      yield [{ type: "finish", reason: "stop" }];
    },
  };
  const file = () => join(mkdtempSync(join(tmpdir(), "capstan-streams-")), "store.db");
  const size = order.isStored ? { store: sqlite(file()) } : { maxRuns: 1e6, load: { maxDelayMs: 1e6 } };
  const server = createServer({ agents: [defineAgent({ name: "helper", model })], ...size });
  return listen(server, { port: 0, healthPort: 0 });
}

const { port, healthPort } = await (kind === "bare" ? startBareServer() : startCapstanServer());
process.on("message", () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const heapBytes = process.memoryUsage().heapUsed;
  const used: ServerMessage = { type: "used", cpuUs: user + system, heapBytes, streams: openStreams };
  process.send?.(used);
});
process.send?.({ type: "ready", port, healthPort } satisfies ServerMessage);

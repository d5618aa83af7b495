// One of the two servers of streams.ts, in its own process: `bare` is plain Hono, `capstan` streams the events of runs.
// Both send the same pieces, each with its index and the time it was sent.
import { setTimeout as wait } from "node:timers/promises";
import { createServer, listen } from "@capstan/server";
import { serve } from "@hono/node-server";
import { defineAgent, type Model } from "capstan";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { StreamOrder } from "./streams.ts";

export type ServerMessage =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "used"; readonly cpuUs: number; readonly heapBytes: number };

const [kind, text] = process.argv.slice(2);
const order: StreamOrder = JSON.parse(text ?? "");

/** A piece with its index and the time it was sent. */
const formatPiece = (index: number, padding = ""): string => `${index}@${process.hrtime.bigint()};${padding}`;

async function* generatePieces({ count, everyMs }: StreamOrder, padding: string): AsyncGenerator<string> {
  const begin = performance.now();
  for (let index = 0; index < count; index++) {
    await wait(Math.max(0, begin + (index + 1) * everyMs - performance.now()));
    yield formatPiece(index, padding);
  }
}

async function startBareServer(): Promise<number> {
  const app = new Hono();
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
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port));
  });
}

async function startCapstanServer(): Promise<number> {
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
  const limits = { streams: 1e6, runs: 1e6 };
  const server = createServer({ agents: [defineAgent({ name: "helper", model })], limits, maxRuns: 1e6 });
  return (await listen(server, { port: 0 })).port;
}

const port = await (kind === "bare" ? startBareServer() : startCapstanServer());
process.on("message", () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ type: "used", cpuUs: user + system, heapBytes: process.memoryUsage().heapUsed });
});
process.send?.({ type: "ready", port } satisfies ServerMessage);

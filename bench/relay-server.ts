// One of the two servers of relay.ts, in its own process: `bare` is Hono that passes the upstream's bytes on, `capstan`
// streams the events of runs whose model is the upstream.
import { createServer, listen } from "@capstan/server";
import { serve } from "@hono/node-server";
import { defineAgent } from "capstan";
import { openai } from "capstan/models/openai";
import { Hono } from "hono";
import { stream } from "hono/streaming";

const [kind, upstream] = process.argv.slice(2);

type ReaderGroup = {
  readonly writers: ((bytes: Uint8Array) => Promise<unknown>)[];
  readonly finished: PromiseWithResolvers<void>;
};

async function startBareServer(): Promise<number> {
  const app = new Hono();
  const groups = new Map<string, ReaderGroup>();

  /** Reads the upstream once for all readers of a text. */
  async function relay({ writers, finished }: ReaderGroup): Promise<void> {
    const { body } = await fetch(`${upstream}/events`);
    for await (const bytes of body ?? []) for (const write of writers) void write(bytes);
    finished.resolve();
  }
  app.get("/events/:id/:readers", (context) => {
    const { id, readers } = context.req.param();
    const group = groups.get(id) ?? { writers: [], finished: Promise.withResolvers<void>() };
    groups.set(id, group);
    context.header("content-type", "text/event-stream; charset=utf-8");
    return stream(context, async (output) => {
      group.writers.push((bytes) => output.write(bytes));
      // Only now, because a reader that joins late would miss the beginning.
      if (group.writers.length === Number(readers)) void relay(group);
      await group.finished.promise;
    });
  });
  app.get("/piped", async () => {
    const { body, headers } = await fetch(`${upstream}/events`);
    return new Response(body, { headers: { "content-type": headers.get("content-type") ?? "" } });
  });
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port));
  });
}

async function startCapstanServer(): Promise<number> {
  const model = openai({ model: "gpt-4o-mini", apiKey: "none", baseURL: upstream ?? "", api: "chat" });
  const agents = [defineAgent({ name: "helper", model })];
  const server = createServer({ agents, maxRuns: 1e6, load: { maxDelayMs: 1e6 } });
  const { port } = await listen(server, { port: 0 });
  return port;
}

const port = await (kind === "bare" ? startBareServer() : startCapstanServer());
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on("disconnect", () => process.exit());
process.send?.(port);

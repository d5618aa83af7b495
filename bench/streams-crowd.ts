// A crowd that requests streams all at once, in a separate process. Each client has a connection of its own, comes back
// when it is refused, and gives up at the deadline.
import { Agent, type IncomingMessage, request } from "node:http";
import type { StreamOrder } from "./streams.ts";

export type CrowdReadings = {
  /** From the first request of a client to its first text. */
  readonly firstTextMs: readonly number[];
  readonly refusalMs: readonly number[];
  readonly completed: number;
  /** Streams that ended early, and clients that gave up. */
  readonly failed: number;
};

type Order = StreamOrder & {
  readonly port: number;
  readonly kind: "bare" | "capstan";
  readonly maxMs: number;
};

const order: Order = JSON.parse(process.argv[2] ?? "");
const deadline = performance.now() + order.maxMs;
const firstTextMs: number[] = [];
const refusalMs: number[] = [];
let completed = 0;
let failed = 0;

type Call = { readonly agent: Agent; readonly method: "GET" | "POST"; readonly path: string };

function send({ agent, method, path }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = method === "POST" ? { "content-type": "application/json" } : {};
    const outgoing = request({ host: "127.0.0.1", port: order.port, agent, method, path, headers }, resolve);
    outgoing.on("error", reject);
    outgoing.end(method === "POST" ? '{"input":"quiet"}' : undefined);
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

/** Requests until it is admitted. Returns the path of the events, or undefined at the deadline. */
async function startStream(agent: Agent): Promise<string | undefined> {
  if (order.kind === "bare") return "/events";
  while (performance.now() < deadline) {
    const sentAt = performance.now();
    const response = await send({ agent, method: "POST", path: "/api/runs" });
    const body = await readBody(response);
    if (response.statusCode === 201) return `/api/runs/${JSON.parse(body).runId}/events`;
    if (response.statusCode !== 503) throw new Error(`Unexpected ${response.statusCode}: ${body}`);
    refusalMs.push(performance.now() - sentAt);
    const waitMs: number = JSON.parse(body).error.retryAfterMs;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  return undefined;
}

async function useServer(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const begin = performance.now();
  try {
    const path = await startStream(agent);
    const response = path === undefined ? undefined : await send({ agent, method: "GET", path });
    if (response?.statusCode !== 200) throw new Error("No stream.");
    let hasText = false;
    let text = "";
    for await (const chunk of response.setEncoding("latin1")) {
      if (!hasText && chunk.includes("content_delta")) firstTextMs.push(performance.now() - begin);
      hasText ||= chunk.includes("content_delta");
      text = (text + chunk).slice(-4000);
    }
    // The last piece of the answer.
    if (text.includes(`${order.count - 1}@`)) completed++;
    else failed++;
  } catch {
    failed++;
  } finally {
    agent.destroy();
  }
}

await Promise.all(Array.from({ length: order.streams }, useServer));
const readings: CrowdReadings = { firstTextMs, refusalMs, completed, failed };
process.stdout.write(JSON.stringify(readings), () => process.exit(0));

// Many readers of one server, in a separate process. Measures the delay of each piece and counts lost ones.
import { type ClientRequest, get, request } from "node:http";
import type { StreamOrder } from "./streams.ts";

export type Readings = {
  readonly delaysMs: readonly number[];
  readonly lost: number;
  readonly events: number;
};

type Order = StreamOrder & {
  readonly port: number;
  readonly kind: "bare" | "capstan";
  /** Adds a reader that requests large pieces and never reads them. */
  readonly sleeper: boolean;
};

const order: Order = JSON.parse(process.argv[2] ?? "");
const origin = { host: "127.0.0.1", port: order.port, agent: false as const };
const delaysMs: number[] = [];
/** Measuring starts when all readers are active, because a late reader receives earlier pieces at once. */
let activeReaders = 0;
let lost = 0;
let events = 0;

function startRun(input: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const clientRequest = request({ ...origin, method: "POST", path: "/api/runs", headers }, (response) => {
    let body = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      body += chunk;
    });
    response.on("end", () => {
      if (response.statusCode !== 201) throw new Error(`Run refused: ${response.statusCode} ${body}`);
      resolve(JSON.parse(body).runId);
    });
  });
  clientRequest.on("error", reject);
  clientRequest.end(JSON.stringify({ input }));
  return promise;
}

const headers = { "content-type": "application/json" };

async function openStream(input: string): Promise<ClientRequest> {
  const path = order.kind === "bare" ? "/events" : `/api/runs/${await startRun(input)}/events`;
  return get({ ...origin, path });
}

async function readStream(): Promise<void> {
  const clientRequest = await openStream("quiet");
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  let rest = "";
  let isActive = false;
  clientRequest.on("response", (response) => {
    if (response.statusCode !== 200) throw new Error(`Stream refused: ${response.statusCode}`);
    response.setEncoding("latin1");
    response.on("data", (chunk: string) => {
      const now = process.hrtime.bigint();
      const text = rest + chunk;
      const end = text.lastIndexOf("\n\n");
      rest = text.slice(end + 1);
      if (!isActive) activeReaders++;
      isActive = true;
      // A merged delta holds several pieces. The final message repeats all of them; count each piece once.
      for (const frame of text.slice(0, Math.max(0, end)).split("\n\n")) {
        const isPiece = frame.includes('"type":"content_delta"');
        if (!isPiece && !frame.includes('"type":"message"')) continue;
        for (const [, index, at] of frame.matchAll(/(\d+)@(\d+);/g)) {
          if (Number(index) === next) next++;
          if (!isPiece) continue;
          events++;
          if (activeReaders === order.streams) delaysMs.push(Number(now - BigInt(at ?? 0)) / 1e6);
        }
      }
    });
    response.on("end", resolve);
    response.on("error", () => resolve());
  });
  await promise;
  lost += order.count - next;
}

if (order.sleeper) (await openStream("loud")).on("response", (response) => response.pause());
const readers: Promise<void>[] = [];
for (let index = 0; index < order.streams; index++) {
  readers.push(readStream());
  if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20));
}
await Promise.all(readers);
const readings: Readings = { delaysMs, lost, events };
process.stdout.write(JSON.stringify(readings), () => process.exit(0));

// Many readers of one server, in a process of their own: how long each piece was on its way, and whether all came.
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
  /** One more reader, which asks for large pieces and never reads them. */
  readonly sleeper: boolean;
};

const order: Order = JSON.parse(process.argv[2] ?? "");
const origin = { host: "127.0.0.1", port: order.port, agent: false as const };
const delaysMs: number[] = [];
/** While connections are being made nothing is measured. */
let isSettled = false;
let lost = 0;
let events = 0;

function start(input: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request({ ...origin, method: "POST", path: "/api/runs", headers }, (response) => {
    let body = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      body += chunk;
    });
    response.on("end", () => resolve(JSON.parse(body).runId));
  });
  asked.on("error", reject);
  asked.end(JSON.stringify({ input }));
  return promise;
}

const headers = { "content-type": "application/json" };

async function open(input: string): Promise<ClientRequest> {
  const path = order.kind === "bare" ? "/events" : `/api/runs/${await start(input)}/events`;
  return get({ ...origin, path });
}

async function read(): Promise<void> {
  const asked = await open("quiet");
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  let rest = "";
  asked.on("response", (response) => {
    response.setEncoding("latin1");
    response.on("data", (chunk: string) => {
      const now = process.hrtime.bigint();
      const text = rest + chunk;
      const end = text.lastIndexOf("\n\n");
      rest = text.slice(end + 1);
      // The whole text comes once more with the fact, which has an id. Joined pieces may hold several.
      for (const frame of text.slice(0, Math.max(0, end)).split("\n\n"))
        if (frame.includes('"type":"content_delta"'))
          for (const [, index, at] of frame.matchAll(/(\d+)@(\d+);/g)) {
            if (Number(index) === next) next++;
            events++;
            if (isSettled) delaysMs.push(Number(now - BigInt(at ?? 0)) / 1e6);
          }
    });
    response.on("end", resolve);
    response.on("error", () => resolve());
  });
  await promise;
  lost += order.count - next;
}

if (order.sleeper) (await open("loud")).on("response", (response) => response.pause());
const readers: Promise<void>[] = [];
for (let index = 0; index < order.streams; index++) {
  readers.push(read());
  if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 20));
}
setTimeout(() => {
  isSettled = true;
}, 1500);
await Promise.all(readers);
const readings: Readings = { delaysMs, lost, events };
process.stdout.write(JSON.stringify(readings), () => process.exit(0));

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
/** Nothing is measured before everybody hears: whoever comes late is told at once what was said before. */
let hearing = 0;
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
    response.on("end", () => {
      if (response.statusCode !== 201) throw new Error(`A run was refused: ${response.statusCode} ${body}`);
      resolve(JSON.parse(body).runId);
    });
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
  let isHearing = false;
  asked.on("response", (response) => {
    if (response.statusCode !== 200) throw new Error(`A stream was refused: ${response.statusCode}`);
    response.setEncoding("latin1");
    response.on("data", (chunk: string) => {
      const now = process.hrtime.bigint();
      const text = rest + chunk;
      const end = text.lastIndexOf("\n\n");
      rest = text.slice(end + 1);
      if (!isHearing) hearing++;
      isHearing = true;
      // Joined pieces hold several. The fact at the end has all of them once more: those that were heard count once.
      for (const frame of text.slice(0, Math.max(0, end)).split("\n\n")) {
        const isPiece = frame.includes('"type":"content_delta"');
        if (!isPiece && !frame.includes('"type":"message"')) continue;
        for (const [, index, at] of frame.matchAll(/(\d+)@(\d+);/g)) {
          if (Number(index) === next) next++;
          if (!isPiece) continue;
          events++;
          if (hearing === order.streams) delaysMs.push(Number(now - BigInt(at ?? 0)) / 1e6);
        }
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
await Promise.all(readers);
const readings: Readings = { delaysMs, lost, events };
process.stdout.write(JSON.stringify(readings), () => process.exit(0));

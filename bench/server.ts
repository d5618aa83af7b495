// A fake model behind HTTP, in its own process so that its work is not measured. It is stateless: the last tool result in
// the request determines the turn.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnswer, formatKey, type Script } from "./model/script.ts";
import { type WireName, wires } from "./model/wires.ts";
import { findWork } from "./works.ts";

type Stream = { readonly whole: Buffer; readonly pieces: readonly Buffer[] };

const streams = new Map<string, Stream>();
let requests = 0;

/** Encodes each stream once and caches it. */
function getStream(path: string, wire: WireName, { script, turn }: { script: Script; turn: number }): Stream {
  const key = `${path}/${turn}`;
  const cached = streams.get(key);
  if (cached) return cached;
  const pieces = wires[wire](createAnswer(script, turn)).map((piece) => Buffer.from(piece));
  const stream = { whole: Buffer.concat(pieces), pieces };
  streams.set(key, stream);
  return stream;
}

const marker = Buffer.from("value of t");

/** Returns the turn of the request, or a description of what is wrong with it. */
function findTurn(body: Buffer, { toolTurns, callsPerTurn }: Script): number | string {
  const at = body.lastIndexOf(marker);
  if (at < 0) return 0;
  const turn = Number.parseInt(body.toString("latin1", at + marker.length, at + marker.length + 6), 10);
  for (let call = 0; call < callsPerTurn; call++) {
    if (!body.includes(`value of ${formatKey(turn, call)}:`))
      return `the result of call ${call + 1} of turn ${turn + 1} is not in the request`;
  }
  if (!body.includes(`value of ${formatKey(0, 0)}:`)) return "the beginning of the conversation is missing";
  return turn + 1 > toolTurns ? "there are more results than calls" : turn + 1;
}

/** One timer per pace writes one piece to each of its streams at every tick. */
const pacedStreams = new Map<number, Set<() => boolean>>();
function schedulePieces(ms: number, next: () => boolean): void {
  const cached = pacedStreams.get(ms);
  if (cached) {
    cached.add(next);
    return;
  }
  const group = new Set([next]);
  pacedStreams.set(ms, group);
  setInterval(() => {
    for (const next of group) if (!next()) group.delete(next);
  }, ms);
}

function writeStream(response: ServerResponse, { whole, pieces }: Stream, { paceMs, hangs }: Script): void {
  if (hangs) {
    // Enough for a piece of text on every wire.
    response.write(Buffer.concat(pieces.slice(0, 4)));
    return;
  }
  if (paceMs === 0) {
    response.write(whole);
    response.end();
    return;
  }
  let n = 0;
  schedulePieces(paceMs, () => {
    const piece = pieces[n++];
    if (piece) return response.write(piece) || !response.destroyed;
    response.end();
    return false;
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === "/requests") {
    response.end(String(requests));
    return;
  }
  const [, wire = "", name = ""] = request.url?.split("/") ?? [];
  const work = findWork(name);
  if (!work) throw new Error(`Work "${name}" needs no server.`);
  const body = await readBody(request);
  requests += 1;
  const turn = findTurn(body, work.script);
  const isStreamed = wire === "gemini" || body.includes('"stream":true');
  if (typeof turn === "string" || !isStreamed) {
    const message = typeof turn === "string" ? turn : "it must be streamed";
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Invalid request: ${message}.` } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const script = { ...work.script, ...(turn < work.script.toolTurns && { paceMs: 0, hangs: false }) };
  writeStream(response, getStream(`${wire}/${name}`, wire as WireName, { script, turn }), script);
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  respond(request, response).catch((error: Error) => {
    response.statusCode = 500;
    response.end(JSON.stringify({ error: { message: error.message } }));
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// Exit with the parent process.
process.stdin.on("end", () => process.exit()).resume();

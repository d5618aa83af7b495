// A fake model behind HTTP, in a process of its own so that its work is not measured. It keeps no state of a
// conversation: which turn it is shows in the request, by the last result of the tool.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerAt, keyOf, type Script } from "./model/script.ts";
import { type WireName, wires } from "./model/wires.ts";
import { workNamed } from "./works.ts";

type Stream = { readonly whole: Buffer; readonly pieces: readonly Buffer[] };

const streams = new Map<string, Stream>();
let requests = 0;

/** Written once, whoever asks. */
function streamOf(path: string, wire: WireName, { script, turn }: { script: Script; turn: number }): Stream {
  const key = `${path}/${turn}`;
  const known = streams.get(key);
  if (known) return known;
  const pieces = wires[wire](answerAt(script, turn)).map((piece) => Buffer.from(piece));
  const stream = { whole: Buffer.concat(pieces), pieces };
  streams.set(key, stream);
  return stream;
}

const marker = Buffer.from("value of t");

/** The turn that the request asks for, or what is wrong with it. */
function turnOf(body: Buffer, { toolTurns, callsPerTurn }: Script): number | string {
  const at = body.lastIndexOf(marker);
  if (at < 0) return 0;
  const turn = Number.parseInt(body.toString("latin1", at + marker.length, at + marker.length + 6), 10);
  for (let call = 0; call < callsPerTurn; call++) {
    if (!body.includes(`value of ${keyOf(turn, call)}:`))
      return `the result of call ${call + 1} of turn ${turn + 1} is not in the request`;
  }
  if (!body.includes(`value of ${keyOf(0, 0)}:`)) return "the beginning of the conversation is not there";
  return turn + 1 > toolTurns ? "there are more results than calls" : turn + 1;
}

/** Writes one piece to every paced stream at each tick: one timer, whatever the number of streams. */
const paced = new Map<number, Set<() => boolean>>();
function pace(ms: number, next: () => boolean): void {
  const known = paced.get(ms);
  if (known) {
    known.add(next);
    return;
  }
  const group = new Set([next]);
  paced.set(ms, group);
  setInterval(() => {
    for (const next of group) if (!next()) group.delete(next);
  }, ms);
}

function say(response: ServerResponse, { whole, pieces }: Stream, { paceMs, hangs }: Script): void {
  if (hangs) {
    // Enough of it for a piece of text on every wire.
    response.write(Buffer.concat(pieces.slice(0, 4)));
    return;
  }
  if (paceMs === 0) {
    response.write(whole);
    response.end();
    return;
  }
  let n = 0;
  pace(paceMs, () => {
    const piece = pieces[n++];
    if (piece) return response.write(piece) || !response.destroyed;
    response.end();
    return false;
  });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
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
  const work = workNamed(name);
  if (!work) throw new Error(`${name} needs no server.`);
  const body = await bodyOf(request);
  requests += 1;
  const turn = turnOf(body, work.script);
  const isStreamed = wire === "gemini" || body.includes('"stream":true');
  if (typeof turn === "string" || !isStreamed) {
    const message = typeof turn === "string" ? turn : "it must be streamed";
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `The request is wrong: ${message}.` } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const script = { ...work.script, ...(turn < work.script.toolTurns && { paceMs: 0, hangs: false }) };
  say(response, streamOf(`${wire}/${name}`, wire as WireName, { script, turn }), script);
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
// It ends with whoever started it.
process.stdin.on("end", () => process.exit()).resume();

// The upstream of relay.ts, in its own process: sends a text in paced pieces, each with one write. `/chat/completions` has
// OpenAI's format, `/events` the events that a Capstan server makes of it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeChat } from "./model/chat.ts";
import { createAnswer } from "./model/script.ts";
import { encodeNamedEvent } from "./model/server-sent-events.ts";
import type { RelayOrder } from "./relay.ts";

const order: RelayOrder = JSON.parse(process.argv[2] ?? "");
const script = {
  toolTurns: 0,
  callsPerTurn: 0,
  fragments: 0,
  textPieces: order.pieces,
  paceMs: 0,
  hangs: false,
};
const answer = createAnswer(script, 0);
const text = "text" in answer ? answer.text : [];
const origin = {
  runId: "run_0b6f3ac2-92f4-4c5f-8a52-50a5a2f1f0d3",
  sessionId: "ses_5d1c9f6e-3b0e-4f57-9d6e-0a1b2c3d4e5f",
  ...{ agent: "helper", turn: 1 },
};
const pieces = {
  "/chat/completions": encodeChat(answer).map((piece) => Buffer.from(piece)),
  "/events": text.map((delta) => Buffer.from(encodeNamedEvent({ type: "content_delta", delta, ...origin }))),
};

/** Each tick writes one piece to every stream. */
const streams = new Set<() => void>();
setInterval(() => {
  for (const writePiece of streams) writePiece();
}, order.everyMs);

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const list = pieces[request.url?.startsWith("/events") ? "/events" : "/chat/completions"];
  let next = 0;
  const writePiece = () => {
    const piece = list[next++];
    if (piece && !response.destroyed) return void response.write(piece);
    streams.delete(writePiece);
    response.end();
  };
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).flushHeaders();
    streams.add(writePiece);
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on("disconnect", () => process.exit());

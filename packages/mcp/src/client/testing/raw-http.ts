import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { initialized, type Params, toolNamed } from "./raw-server.ts";

/** A call that has come in, and the answer that is to be written by hand. */
export type RawCall = { readonly id: unknown; readonly tool: string; readonly response: ServerResponse };

export type RawHttp = {
  readonly url: string;
  /** What was asked after the cut of a stream: the last event that arrived. */
  readonly resumed: string[];
  close(): Promise<void>;
};

type Behaviour = {
  readonly tools: readonly string[];
  call(call: RawCall): unknown;
  /** Goes on with a stream from an event on. */
  resume?(from: string, response: ServerResponse): unknown;
};

const stream = { "content-type": "text/event-stream", "cache-control": "no-cache" };

/** Begins a stream of events. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, stream);
}

/** Writes one event; an empty message is one that only has an id. */
export function writeEvent(response: ServerResponse, id: string, message?: object): void {
  response.write(`id: ${id}\nretry: 50\ndata: ${message ? JSON.stringify(message) : ""}\n\n`);
}

/** Writes the same piece many times, no faster than it is read. */
export async function writeMuch(response: ServerResponse, piece: string, times: number): Promise<void> {
  const pieces = Array.from({ length: times }, () => piece);
  // Whoever has read enough cuts it off.
  await pipeline(pieces, response).catch(() => undefined);
}

/** A server of 2025 over HTTP, without the SDK, on loopback. */
export async function rawHttp(behaviour: Behaviour): Promise<RawHttp> {
  const resumed: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === "POST") return post(behaviour, request, response);
    const from = request.headers["last-event-id"];
    if (typeof from !== "string" || !behaviour.resume) return response.writeHead(405).end();
    resumed.push(from);
    openStream(response);
    return behaviour.resume(from, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    resumed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function post(
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  const { id, method, params } = (await json(request)) as { id?: unknown; method: string; params?: Params };
  if (id === undefined) return response.writeHead(202).end();
  if (method === "tools/call") return behaviour.call({ id, tool: String(params?.name), response });
  const results: { readonly [method: string]: object } = {
    initialize: initialized("raw"),
    "tools/list": { tools: behaviour.tools.map((name) => toolNamed(name)) },
  };
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: `There is no ${method}.` } };
  return response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}

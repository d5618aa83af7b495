import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createInitializeResult, defineRawTool, type Params } from "./raw-server.ts";

/** An incoming call. The test writes the response itself. */
export type RawCall = { readonly id: unknown; readonly tool: string; readonly response: ServerResponse };

export type RawHttpServer = {
  readonly url: string;
  /** `Last-Event-ID` of each request that resumed a stream. */
  readonly resumed: string[];
  close(): Promise<void>;
};

type RawHttpBehavior = {
  readonly tools: readonly string[];
  call(call: RawCall): unknown;
  /** Continues a stream after an event. */
  resume?(from: string, response: ServerResponse): unknown;
};

const streamHeaders = { "content-type": "text/event-stream", "cache-control": "no-cache" };

export function openStream(response: ServerResponse): void {
  response.writeHead(200, streamHeaders);
}

/** Writes one event. Without a message, the event has only an id. */
export function writeEvent(response: ServerResponse, id: string, message?: object): void {
  response.write(`id: ${id}\nretry: 50\ndata: ${message ? JSON.stringify(message) : ""}\n\n`);
}

/** Writes a piece many times, with backpressure. */
export async function writeRepeatedly(response: ServerResponse, piece: string, times: number): Promise<void> {
  const pieces = Array.from({ length: times }, () => piece);
  // The client may close the connection early.
  await pipeline(pieces, response).catch(() => undefined);
}

/** Starts an HTTP server of a 2025 revision on loopback, without the SDK. */
export async function startRawHttpServer(behavior: RawHttpBehavior): Promise<RawHttpServer> {
  const resumed: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === "POST") return handlePost(behavior, request, response);
    const from = request.headers["last-event-id"];
    if (typeof from !== "string" || !behavior.resume) return response.writeHead(405).end();
    resumed.push(from);
    openStream(response);
    return behavior.resume(from, response);
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

async function handlePost(
  behavior: RawHttpBehavior,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  const { id, method, params } = (await json(request)) as { id?: unknown; method: string; params?: Params };
  if (id === undefined) return response.writeHead(202).end();
  if (method === "tools/call") return behavior.call({ id, tool: String(params?.name), response });
  const results: { readonly [method: string]: object } = {
    initialize: createInitializeResult("raw"),
    "tools/list": { tools: behavior.tools.map((name) => defineRawTool(name)) },
  };
  const result = results[method];
  const answer = result ? { result } : { error: { code: -32601, message: `Unknown method ${method}.` } };
  return response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}

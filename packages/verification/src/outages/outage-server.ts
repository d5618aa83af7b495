import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How a provider can be down. */
export type OutageKind = "refused" | "503" | "429" | "429 with retry-after" | "stall" | "cut";

export const outageKinds: readonly OutageKind[] = [
  ...(["refused", "503", "429", "429 with retry-after", "stall", "cut"] as const),
];

/** A provider on a loopback port that can go down. It answers with one tool call, and with a text after its result. */
export interface OutageServer {
  readonly url: string;
  goDown(kind: OutageKind): Promise<void>;
  comeBack(): Promise<void>;
  /** Counts the requests that are not answered yet, except stalled ones. */
  countOpen(): number;
  countStalled(): number;
  close(): Promise<void>;
}

export async function startOutageServer(): Promise<OutageServer> {
  let kind: OutageKind | undefined;
  let open = 0;
  const stalled = new Set<ServerResponse>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    open += 1;
    response.on("close", () => {
      if (!stalled.delete(response)) open -= 1;
    });
    readBody(request).then(
      (body) => {
        if (kind !== "stall") return answer(response, kind, body);
        stalled.add(response);
        open -= 1;
      },
      () => undefined, // the server went down
    );
  };
  let server = await listen(handle, 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async goDown(next) {
      kind = next;
      if (next === "refused") await stop(server);
    },
    async comeBack() {
      if (kind === "refused") server = await listen(handle, port);
      kind = undefined;
    },
    countOpen: () => open,
    countStalled: () => stalled.size,
    close: () => stop(server),
  };
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  port: number,
): Promise<Server> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", 4096, resolve));
  return server;
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const bytes of request) body += bytes;
  return body;
}

function answer(response: ServerResponse, kind: OutageKind | undefined, body: string): void {
  if (kind === "503") response.writeHead(503).end("Service unavailable");
  else if (kind === "429") response.writeHead(429).end("Too many requests");
  else if (kind === "429 with retry-after")
    response.writeHead(429, { "retry-after": "2" }).end("Too many requests");
  else if (kind === "cut") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(toChunk({ delta: { content: "I am about to sa" } }), () => response.destroy());
  } else {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const hasResult = body.includes('"role":"tool"');
    const call = { index: 0, id: "c1", function: { name: "book", arguments: "{}" } };
    const delta = hasResult ? { content: "Booked." } : { tool_calls: [call] };
    const finish = { delta: {}, finish_reason: hasResult ? "stop" : "tool_calls" };
    response.end(`${toChunk({ delta })}${toChunk(finish)}data: [DONE]\n\n`);
  }
}

function toChunk(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
}

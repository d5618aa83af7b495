import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** An OTLP receiver on loopback. */
export interface SpanReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** All bodies as text; protobuf keeps strings readable. */
  text(): string;
  close(): void;
}

/** Starts a receiver that answers every request with `status`. */
export async function startSpanReceiver(status = 200): Promise<SpanReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    received.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(pieces) });
    response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    text: () => received.map(({ body }) => body.toString("utf8")).join("\n"),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

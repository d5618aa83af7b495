import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { decodeTraces, type OtlpSpan } from "./otlp-traces.ts";

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** An OTLP receiver on loopback. */
export interface SpanReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** All spans, decoded. */
  readonly spans: readonly OtlpSpan[];
  /** All bodies as text; protobuf keeps strings readable. */
  text(): string;
  close(): void;
}

/** Starts a receiver that answers with `status`, and with 400 what is not OTLP over HTTP in protobuf. */
export async function startSpanReceiver(status = 200): Promise<SpanReceiver> {
  const received: Received[] = [];
  const spans: OtlpSpan[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { url: path = "", headers, method } = request;
    const body = Buffer.concat(pieces);
    received.push({ path, headers, body });
    try {
      if (method !== "POST" || headers["content-type"] !== "application/x-protobuf")
        throw new Error("Not a request of OTLP.");
      spans.push(...decodeTraces(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
      // An empty body is an `ExportTraceServiceResponse`: everything was accepted.
      response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
    } catch (error) {
      response.writeHead(400, { "content-type": "text/plain" }).end(String(error));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    spans,
    text: () => received.map(({ body }) => body.toString("utf8")).join("\n"),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

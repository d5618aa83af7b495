import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";

/** A request as it arrived. */
export type CloudRequest = {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type CloudResponse = {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
};

export type CloudServer = {
  readonly url: string;
  readonly requests: readonly CloudRequest[];
  close(): void;
};

/** Starts a loopback server in place of a cloud. */
export async function startCloud(
  respond: (request: CloudRequest, index: number) => CloudResponse | Promise<CloudResponse>,
): Promise<CloudServer> {
  const requests: CloudRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const request = { url: incoming.url ?? "", headers: incoming.headers, body };
    const response = await respond(request, requests.push(request) - 1);
    outgoing.writeHead(response.status ?? 200, response.headers).end(response.body ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A request with one message, "Hi." */
export const shortRequest: ModelRequest = {
  instructions: "",
  history: [{ type: "user", content: "Hi." }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
};

/** Returns all chunks of an answer. */
export async function readChunks(model: Model, request: ModelRequest = shortRequest): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of model.stream(request, { signal: new AbortController().signal }))
    chunks.push(...batch);
  return chunks;
}

/** Joins the text of an answer. */
export const joinText = (chunks: readonly Chunk[]): string =>
  chunks.map((chunk) => (chunk.type === "text" ? chunk.text : "")).join("");

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it arrived over the network. */
export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: { readonly [field: string]: unknown };
};

/** Starts a server that keeps every request and answers each with an empty object. */
export async function startCaptureServer(): Promise<{
  readonly url: string;
  readonly received: ReceivedRequest[];
  close(): void;
}> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url: path = "", headers } = request;
    received.push({ method, path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, close: () => server.close() };
}

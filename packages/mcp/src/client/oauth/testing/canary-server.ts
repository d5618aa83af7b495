import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that records requests it should not get. */
export type CanaryServer = {
  readonly url: string;
  readonly port: number;
  readonly requests: { readonly path: string; readonly headers: Record<string, unknown> }[];
  close(): Promise<void>;
};

/** Starts a canary that returns 404 by default. */
export async function startCanary(
  answer: RequestListener = (_, response) => response.writeHead(404).end(),
): Promise<CanaryServer> {
  const requests: CanaryServer["requests"] = [];
  const listener = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  listener.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

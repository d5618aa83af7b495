import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that nobody should ask, or not with everything. */
export type Canary = {
  readonly url: string;
  readonly port: number;
  readonly seen: { readonly path: string; readonly headers: Record<string, unknown> }[];
  close(): Promise<void>;
};

/** Starts one; it answers 404 unless told otherwise. */
export async function canary(
  answer: RequestListener = (_, response) => response.writeHead(404).end(),
): Promise<Canary> {
  const seen: Canary["seen"] = [];
  const listener = createServer((request, response) => {
    seen.push({ path: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  listener.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** A port that is free at this moment. */
export async function freePort(): Promise<number> {
  const { port, close } = await canary();
  await close();
  return port;
}

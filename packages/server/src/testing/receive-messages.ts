import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export type ReceivedMessage = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** A receiver of webhooks on loopback. */
export interface MessageReceiver {
  readonly url: string;
  readonly port: number;
  readonly messages: readonly ReceivedMessage[];
  close(): void;
}

/** Answers messages with these statuses, the last one again and again. */
export async function receiveMessages(
  ...answers: readonly (number | RequestListener)[]
): Promise<MessageReceiver> {
  const messages: ReceivedMessage[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk;
    });
    request.on("end", () => {
      messages.push({ headers: request.headers, body });
      const answer = (left.length > 1 ? left.shift() : left[0]) ?? 204;
      if (typeof answer === "function") answer(request, response);
      else response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}/done`, port, messages },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

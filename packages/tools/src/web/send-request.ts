import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { refusal } from "./refusal.ts";

/** One request on a connection that is open. */
export type Sending = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

/** A server may say "wait" and "here is a hint" so often before it answers. */
const mostInformation = 8;

/** Sends, and gives the answer when its headers are there. Redirects are not followed. */
export function sendRequest(
  { url, method, headers, body }: Sending,
  socket: Socket,
  maxHeaderBytes: number,
): Promise<IncomingMessage> {
  // Not before it is needed: an import of it loads all of Node's `fetch` too.
  const { request } = process.getBuiltinModule("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({
    // The connection is given, so there is no agent: no pool, no look-up, no proxy of the environment.
    createConnection: () => socket,
    method,
    path: url.pathname + url.search,
    headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) },
    setHost: false,
    maxHeaderSize: maxHeaderBytes,
    insecureHTTPParser: false,
  });
  // Their bytes are limited. A limit of their count would hide the last ones instead of refusing them.
  sent.maxHeadersCount = 0;
  let informed = 0;
  sent.on("information", () => {
    informed += 1;
    if (informed > mostInformation)
      sent.destroy(refusal("headers", `${url.hostname} announces an answer over and over.`));
  });
  sent.once("upgrade", (_response, upgraded) => {
    upgraded.destroy();
    reject(refusal("headers", `${url.hostname} wants to speak another protocol than HTTP.`));
  });
  sent.once("response", resolve);
  sent.on("error", reject);
  sent.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  sent.end(body);
  return promise;
}

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { createGuardRefusal } from "./guard-errors.ts";

/** A request for an open connection. */
export type OutgoingRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

/** Informational (1xx) responses before the final one. */
const maxInformational = 8;

/** Sends a request and resolves when the response headers have arrived. Does not follow redirects. */
export function sendRequest(
  { url, method, headers, body }: OutgoingRequest,
  socket: Socket,
  maxHeaderBytes: number,
): Promise<IncomingMessage> {
  // Loaded lazily: importing it also loads Node's `fetch`.
  const { request } = process.getBuiltinModule("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const clientRequest = request({
    // The given connection replaces the agent: no pool, no DNS lookup, no proxy.
    createConnection: () => socket,
    method,
    path: url.pathname + url.search,
    headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) },
    setHost: false,
    maxHeaderSize: maxHeaderBytes,
    insecureHTTPParser: false,
  });
  // Their total size is limited. A limit on their number would drop headers silently.
  clientRequest.maxHeadersCount = 0;
  let informationalCount = 0;
  clientRequest.on("information", () => {
    informationalCount += 1;
    if (informationalCount > maxInformational)
      clientRequest.destroy(
        createGuardRefusal("headers", `${url.hostname} sent too many informational responses.`),
      );
  });
  clientRequest.once("upgrade", (_response, upgraded) => {
    upgraded.destroy();
    reject(createGuardRefusal("headers", `${url.hostname} tried to switch to another protocol.`));
  });
  clientRequest.once("response", resolve);
  clientRequest.on("error", reject);
  clientRequest.once("close", () => reject(Object.assign(new Error("Closed."), { code: "ECONNRESET" })));
  clientRequest.end(body);
  return promise;
}

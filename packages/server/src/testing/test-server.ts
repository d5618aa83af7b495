import { createServer, type Server, type ServerOptions } from "../create-server.ts";

/** A server for one test, called without a socket. */
export type TestServer = Server & {
  /** Sends a request, with an optional JSON body, as a local client would. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
};

/** Creates the server; close it at the end of the test. */
export function createTestServer(options: ServerOptions): TestServer {
  // A slow machine must not make a test fail.
  const server = createServer({
    ...options,
    load: { maxDelayMs: Number.POSITIVE_INFINITY, ...options.load },
  });
  return {
    ...server,
    // biome-ignore lint/complexity/useMaxParams: reads like a request
    send: (method, path, body, headers = {}) =>
      server.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: {
            host: "127.0.0.1",
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      ),
  };
}

import { createServer, type Server, type ServerOptions } from "../create-server.ts";

/** A server for one test, asked without a socket: the request comes as from this machine. */
export type TestServer = Server & {
  /** A request with a JSON body, if any, as a page or a program of this machine would send it. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
};

/** Close it when the test is over. */
export function testServer(options: ServerOptions): TestServer {
  const server = createServer(options);
  return {
    ...server,
    // biome-ignore lint/complexity/useMaxParams: it reads like a request
    ask: (method, path, body, headers = {}) =>
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

import type { Readable, Writable } from "node:stream";
import type { McpServer, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

export type StdioStreams = { readonly stdin: Readable; readonly stdout: Writable };

export interface StdioService {
  /** Resolves when the client has disconnected or `close` was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

type Options = { readonly streams: StdioStreams; readonly onError: (error: Error) => void };

/** Serves one client until its stdin ends. */
export function startStdioService(
  factory: (opening: { readonly era: "modern" | "legacy" }) => Promise<McpServer | Server>,
  { streams, onError }: Options,
): StdioService {
  const transport = new StdioServerTransport(streams.stdin, streams.stdout);
  const handle = serveStdio(factory, { transport, onerror: onError });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const end = transport.onclose;
  transport.onclose = () => {
    end?.();
    resolve();
  };
  return { closed, close: () => handle.close() };
}

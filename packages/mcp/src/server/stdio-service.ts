import type { Readable, Writable } from "node:stream";
import type { McpServer, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { claimStdout } from "./claim-stdout.ts";

/** Where a client over stdio is heard and answered. */
export type StdioStreams = { readonly stdin: Readable; readonly stdout: Writable };

/** One client over stdio. */
export interface StdioService {
  /** Resolves when the client has gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

type Options = { readonly streams?: StdioStreams; readonly onError: (error: Error) => void };

/** Serves one client until its stdin ends. On the process's own stdout everything else moves to stderr meanwhile. */
export function stdioService(
  factory: (opening: { readonly era: "modern" | "legacy" }) => Promise<McpServer | Server>,
  { streams, onError }: Options,
): StdioService {
  const own = streams ? undefined : claimStdout();
  const { stdin, stdout } = streams ?? { stdin: process.stdin, stdout: own?.stdout };
  const transport = new StdioServerTransport(stdin, stdout);
  const handle = serveStdio(factory, { transport, onerror: onError });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const end = transport.onclose;
  transport.onclose = () => {
    end?.();
    own?.release();
    resolve();
  };
  return { closed, close: () => handle.close() };
}

import type { McpServer, Server } from "@modelcontextprotocol/server";
import type { HostRules } from "./check-request.ts";
import { claimStdout } from "./claim-stdout.ts";
import { createErrorResponse } from "./error-response.ts";
import type { SessionLimits } from "./legacy-sessions.ts";
import type { SdkHandler } from "./sdk-handler.ts";
import type { StdioService, StdioStreams } from "./stdio-service.ts";

/** The caller: protocol era, and the user that your application authenticated. */
export type McpCaller = { readonly era: "modern" | "legacy"; readonly user?: string };

/** Creates a new server for one request, session or connection. Must never return the same server twice. */
export type McpServerFactory = (caller: McpCaller) => McpServer | Server | Promise<McpServer | Server>;

export type McpHandlerOptions = HostRules &
  SessionLimits & {
    /** Called with errors that no response carries. */
    readonly onError?: (error: Error) => void;
  };

/** Notifies all subscribed clients of a change. */
export interface McpNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /** Reaches clients of 2026-07-28. In the 2025 revisions, subscriptions belong to the server that the factory created. */
  resourceUpdated(uri: string): void;
}

export interface McpHandler {
  /** Handles one web-standard request. Your application authenticates the caller and passes the `user`. */
  fetch(request: Request, caller?: { readonly user?: string }): Promise<Response>;
  /** Serves one client over stdin and stdout, or the given streams, until it disconnects. */
  stdio(streams?: StdioStreams): StdioService;
  readonly notify: McpNotifier;
  /** Closes every session, request and connection. */
  close(): Promise<void>;
}

/**
 * Serves MCP from one factory: 2026-07-28 and the 2025 revisions, over HTTP and stdio. The first request loads the SDK,
 * so that an application without MCP clients starts as fast as one without MCP.
 */
export function mcpHandler(factory: McpServerFactory, options: McpHandlerOptions = {}): McpHandler {
  let handler: SdkHandler | undefined;
  let loading: Promise<SdkHandler> | undefined;
  let isClosed = false;
  function load(): Promise<SdkHandler> {
    loading ??= import("./sdk-handler.ts").then(({ createSdkHandler }) => {
      handler = createSdkHandler(factory, options);
      return handler;
    });
    return loading;
  }
  return {
    fetch: async (request, caller) =>
      isClosed ? createClosedResponse() : (await load()).fetch(request, caller),
    stdio(streams) {
      // Claimed before the SDK is loaded: other output would break the protocol.
      const { stdout, release } = streams ? { stdout: streams.stdout, release: undefined } : claimStdout();
      const stdin = streams?.stdin ?? process.stdin;
      const started = load().then((sdk) => sdk.stdio({ stdin, stdout }));
      const closed = started.then((service) => service.closed).finally(release);
      return { closed, close: async () => (await started).close() };
    },
    notify: {
      toolsChanged: () => handler?.notify.toolsChanged(),
      promptsChanged: () => handler?.notify.promptsChanged(),
      resourcesChanged: () => handler?.notify.resourcesChanged(),
      resourceUpdated: (uri) => handler?.notify.resourceUpdated(uri),
    },
    async close() {
      isClosed = true;
      await (await loading)?.close();
    },
  };
}

const createClosedResponse = () =>
  createErrorResponse(503, { code: -32_000, name: "closed", message: "This MCP server is closed." });

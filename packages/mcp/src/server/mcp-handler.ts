import { createMcpHandler, isLegacyRequest, type McpServer, type Server } from "@modelcontextprotocol/server";
import { AgentError } from "capstan";
import {
  checkHost,
  createErrorResponse,
  type HostRules,
  parseJsonBody,
  withoutCredentials,
} from "./check-request.ts";
import { createLegacySessions, type SessionLimits } from "./legacy-sessions.ts";
import { type StdioService, type StdioStreams, startStdioService } from "./stdio-service.ts";

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

/** Serves MCP from one factory: 2026-07-28 and the 2025 revisions, over HTTP and stdio. */
export function mcpHandler(factory: McpServerFactory, options: McpHandlerOptions = {}): McpHandler {
  const onError = options.onError ?? (() => undefined);
  const callers = new WeakMap<Request, { readonly user?: string }>();
  const connected = new Set<McpServer | Server>();
  const connections = new Set<StdioService>();
  let isClosed = false;

  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo && callers.get(requestInfo);
      // Treating an unknown caller as anonymous could give it another user's rights.
      if (!caller) throw new AgentError("mcp_protocol", "The caller of this MCP request is unknown.");
      return factory({ era: "modern", ...caller });
    },
    { legacy: "reject", onerror: onError },
  );
  const legacy = createLegacySessions(
    ({ user }) => factory({ era: "legacy", ...(user !== undefined && { user }) }),
    {
      ...options,
      onError,
      connected,
    },
  );

  async function fetch(request: Request, { user }: { readonly user?: string } = {}): Promise<Response> {
    const refused = isClosed ? createClosedResponse() : checkHost(request, options);
    if (refused) return refused;
    const body = await parseJsonBody(request);
    if (body instanceof Response) return body;
    const sanitized = withoutCredentials(request);
    if (await isLegacyRequest(sanitized, body.parsed))
      return legacy.fetch(sanitized, { body: body.parsed, user });
    callers.set(sanitized, user === undefined ? {} : { user });
    return modern.fetch(sanitized, body.parsed === undefined ? {} : { parsedBody: body.parsed });
  }

  function stdio(streams?: StdioStreams): StdioService {
    const servers = new Set<McpServer | Server>();
    const createServer = async ({ era }: McpCaller): Promise<McpServer | Server> => {
      const server = await factory({ era });
      servers.add(server);
      connected.add(server);
      return server;
    };
    const service = startStdioService(createServer, { onError, ...(streams && { streams }) });
    connections.add(service);
    void service.closed.then(() => {
      connections.delete(service);
      for (const server of servers) connected.delete(server);
    });
    return service;
  }

  const notifyConnected = (send: (server: McpServer | Server) => void | Promise<void>): void => {
    for (const server of connected) void Promise.resolve(send(server)).catch(onError);
  };
  return {
    fetch,
    stdio,
    notify: {
      toolsChanged() {
        modern.notify.toolsChanged();
        notifyConnected((server) => server.sendToolListChanged());
      },
      promptsChanged() {
        modern.notify.promptsChanged();
        notifyConnected((server) => server.sendPromptListChanged());
      },
      resourcesChanged() {
        modern.notify.resourcesChanged();
        notifyConnected((server) => server.sendResourceListChanged());
      },
      resourceUpdated: (uri) => modern.notify.resourceUpdated(uri),
    },
    async close() {
      isClosed = true;
      await Promise.all([modern.close(), legacy.close(), ...[...connections].map((each) => each.close())]);
    },
  };
}

const createClosedResponse = () =>
  createErrorResponse(503, { code: -32_000, name: "closed", message: "This MCP server is closed." });

import { createMcpHandler, isLegacyRequest, type McpServer, type Server } from "@modelcontextprotocol/server";
import { AgentError } from "capstan";
import { type HostRules, hostRefusal, readBody, refusal, withoutCredentials } from "./admission.ts";
import { legacySessions, type SessionLimits } from "./legacy-sessions.ts";
import { type StdioService, type StdioStreams, stdioService } from "./stdio-service.ts";

/** Who asks: the era of the protocol they speak and the user that whoever mounts the handler has authenticated. */
export type McpCaller = { readonly era: "modern" | "legacy"; readonly user?: string };

/** Makes a new server for one request, one session or one connection. It must never give the same one twice. */
export type McpServerFactory = (caller: McpCaller) => McpServer | Server | Promise<McpServer | Server>;

export type McpHandlerOptions = HostRules &
  SessionLimits & {
    /** Told of errors that no answer carries. */
    readonly onError?: (error: Error) => void;
  };

/** Tells every client that listens that a list has changed. */
export interface McpNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /** Told to those of 2026-07-28; in the 2025 era subscriptions belong to the server that the factory made. */
  resourceUpdated(uri: string): void;
}

export interface McpHandler {
  /** Web-standard: one HTTP request to the one endpoint. `user` is who has been authenticated by whoever mounts it. */
  fetch(request: Request, caller?: { readonly user?: string }): Promise<Response>;
  /** Serves one client over stdin and stdout (or the given streams) until it closes. */
  stdio(streams?: StdioStreams): StdioService;
  readonly notify: McpNotifier;
  /** Ends every session, request and connection. */
  close(): Promise<void>;
}

/** Serves MCP from one factory: 2026-07-28 and the 2025 era, over HTTP and stdio. */
export function mcpHandler(factory: McpServerFactory, options: McpHandlerOptions = {}): McpHandler {
  const onError = options.onError ?? (() => undefined);
  const callers = new WeakMap<Request, { readonly user?: string }>();
  const connected = new Set<McpServer | Server>();
  const connections = new Set<StdioService>();
  let isClosed = false;

  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo && callers.get(requestInfo);
      // Nobody in particular would be somebody else.
      if (!caller) throw new AgentError("mcp_protocol", "The caller of this MCP request is not known.");
      return factory({ era: "modern", ...caller });
    },
    { legacy: "reject", onerror: onError },
  );
  const legacy = legacySessions(
    ({ user }) => factory({ era: "legacy", ...(user !== undefined && { user }) }),
    {
      ...options,
      onError,
      connected,
    },
  );

  async function fetch(request: Request, { user }: { readonly user?: string } = {}): Promise<Response> {
    const refused = isClosed ? gone() : hostRefusal(request, options);
    if (refused) return refused;
    const body = await readBody(request);
    if (body instanceof Response) return body;
    const bare = withoutCredentials(request);
    if (await isLegacyRequest(bare, body.parsed)) return legacy.fetch(bare, { body: body.parsed, user });
    callers.set(bare, user === undefined ? {} : { user });
    return modern.fetch(bare, body.parsed === undefined ? {} : { parsedBody: body.parsed });
  }

  function stdio(streams?: StdioStreams): StdioService {
    const made = new Set<McpServer | Server>();
    const make = async ({ era }: McpCaller): Promise<McpServer | Server> => {
      const server = await factory({ era });
      made.add(server);
      connected.add(server);
      return server;
    };
    const service = stdioService(make, { onError, ...(streams && { streams }) });
    connections.add(service);
    void service.closed.then(() => {
      connections.delete(service);
      for (const server of made) connected.delete(server);
    });
    return service;
  }

  const tell = (say: (server: McpServer | Server) => void | Promise<void>): void => {
    for (const server of connected) void Promise.resolve(say(server)).catch(onError);
  };
  return {
    fetch,
    stdio,
    notify: {
      toolsChanged() {
        modern.notify.toolsChanged();
        tell((server) => server.sendToolListChanged());
      },
      promptsChanged() {
        modern.notify.promptsChanged();
        tell((server) => server.sendPromptListChanged());
      },
      resourcesChanged() {
        modern.notify.resourcesChanged();
        tell((server) => server.sendResourceListChanged());
      },
      resourceUpdated: (uri) => modern.notify.resourceUpdated(uri),
    },
    async close() {
      isClosed = true;
      await Promise.all([modern.close(), legacy.close(), ...[...connections].map((each) => each.close())]);
    },
  };
}

const gone = () =>
  refusal(503, { code: -32_000, name: "closed", message: "This MCP server has been closed." });

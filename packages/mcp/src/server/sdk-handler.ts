import { createMcpHandler, isLegacyRequest, type McpServer, type Server } from "@modelcontextprotocol/server";
import { AgentError } from "capstan";
import { checkHost, parseJsonBody, withoutCredentials } from "./check-request.ts";
import { createLegacySessions } from "./legacy-sessions.ts";
import type { McpCaller, McpHandler, McpHandlerOptions, McpServerFactory } from "./mcp-handler.ts";
import { type StdioService, type StdioStreams, startStdioService } from "./stdio-service.ts";

export type SdkHandler = Omit<McpHandler, "stdio"> & { stdio(streams: StdioStreams): StdioService };

/** Creates the part of a handler that needs the SDK. */
export function createSdkHandler(factory: McpServerFactory, options: McpHandlerOptions): SdkHandler {
  const onError = options.onError ?? (() => undefined);
  const callers = new WeakMap<Request, { readonly user?: string }>();
  const connected = new Set<McpServer | Server>();
  const connections = new Set<StdioService>();

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
    const refused = checkHost(request, options);
    if (refused) return refused;
    const body = await parseJsonBody(request);
    if (body instanceof Response) return body;
    const sanitized = withoutCredentials(request);
    if (await isLegacyRequest(sanitized, body.parsed))
      return legacy.fetch(sanitized, { body: body.parsed, user });
    callers.set(sanitized, user === undefined ? {} : { user });
    return modern.fetch(sanitized, body.parsed === undefined ? {} : { parsedBody: body.parsed });
  }

  function stdio(streams: StdioStreams): StdioService {
    const servers = new Set<McpServer | Server>();
    const createServer = async ({ era }: McpCaller): Promise<McpServer | Server> => {
      const server = await factory({ era });
      servers.add(server);
      connected.add(server);
      return server;
    };
    const service = startStdioService(createServer, { streams, onError });
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
      await Promise.all([modern.close(), legacy.close(), ...[...connections].map((each) => each.close())]);
    },
  };
}

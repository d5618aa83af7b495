import { randomBytes } from "node:crypto";
import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import { memory } from "capstan/stores/memory";
import { createAgentCalls, type WaitingState } from "./agent-calls.ts";
import type { RunCaller } from "./agent-runs.ts";
import { createToolRegistrar } from "./agent-tools.ts";
import { addKnowledgeTools } from "./knowledge-tools.ts";
import type { ServeMcpOptions } from "./serve-mcp.ts";
import { createSessionKeys, hashPrefix } from "./session-keys.ts";
import { addWidgetResource, widgetToolMeta } from "./widget-resource.ts";

/** Creates a server of the SDK for one request, session or connection of a user. */
export type CreateAgentServer = (user: string | undefined) => McpServer;

/** How long a question stays valid. */
const daySeconds = 24 * 60 * 60;

/** The names of the agents were checked before. */
export function createAgentServers(options: ServeMcpOptions): CreateAgentServer {
  const { agents, store = memory(), expose = "query", knowledge, onEvent, onBeforeModel, secrets } = options;
  const { policy, sessionPrefix = hashPrefix } = options;
  const { name = "capstan", version = "0.0.0", instructions, onError = () => undefined } = options;
  const { widgets } = options;
  const meta = widgets === undefined ? undefined : widgetToolMeta;
  const addAgentTools = createToolRegistrar({ agents, expose, meta });
  const context = options.context ?? ((caller: RunCaller) => caller);
  const key = randomBytes(32);

  return (user) => {
    const bind = () => JSON.stringify([user ?? null]);
    const codec = createRequestStateCodec<WaitingState>({ key, bind, ttlSeconds: daySeconds });
    const server = new McpServer(
      { name, version },
      {
        capabilities: { tools: { listChanged: false } },
        requestState: { verify: codec.verify },
        ...(instructions !== undefined && { instructions }),
      },
    );
    const keys = createSessionKeys(sessionPrefix(user));
    const calls = createAgentCalls({
      ...{ agents, store, user, keys, codec, policy, context, onError },
      hasWidgets: widgets !== undefined,
      filterResult: (result) => options.filterResult?.(result, user) ?? result,
      ...(onEvent && { onEvent }),
      ...(onBeforeModel && { onBeforeModel }),
      ...(options.onRunError && { onRunError: options.onRunError }),
      ...(secrets && { secrets }),
      server: server.server,
    });
    addAgentTools(server, calls);
    if (widgets !== undefined) addWidgetResource(server, widgets);
    if (knowledge) addKnowledgeTools(server, { knowledge, user, onError });
    return server;
  };
}

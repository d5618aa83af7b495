import type { McpTools } from "@capstan/mcp";
import { AgentError } from "capstan";
import { z } from "zod";
import { mcpView } from "../views/mcp-server-view.ts";
import { toolSchema } from "./agents.ts";
import { defineRoute, type Route } from "./route.ts";
import { json } from "./schemas.ts";

const server = z.object({
  name: z.string(),
  state: z.enum(["off", "starting", "signing-in", "ready", "restarting", "failed", "closed"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  restarts: z.number().describe("Starts after the first one, within the last hour."),
  tools: z.array(toolSchema),
  changed: z
    .array(z.object({ name: z.string(), was: json.optional(), is: json.optional() }))
    .describe("Tools that are off, because they are not what they were when they were trusted."),
  problems: z.array(z.string()),
  calls: z.array(
    z.object({
      tool: z.string(),
      at: z.number(),
      ms: z.number(),
      status: z.string(),
      runId: z.string(),
      sessionId: z.string(),
    }),
  ),
  log: z.array(z.string()).optional().describe("The last lines, for admins."),
});

const servers: z.ZodType = z.object({ servers: z.array(server) });

/** The MCP servers whose tools the agents use. */
export const mcpServerRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers",
    summary: "The MCP servers of this deployment: how they are, their tools, your last calls.",
    answers: { 200: { description: "All of them; none when it uses none.", schema: servers } },
    handle: async ({ caller }, { mcpTools, mcpCalls }) =>
      Response.json({ servers: mcpView(mcpTools, mcpCalls, caller) }),
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/refresh",
    summary: "Ask every MCP server for its tools anew, and start those that had been given up.",
    access: "admin",
    answers: { 200: { description: "As they are then.", schema: servers } },
    async handle({ caller }, { mcpTools, mcpCalls }) {
      await mcpTools?.refreshTools();
      return Response.json({ servers: mcpView(mcpTools, mcpCalls, caller) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/trust",
    summary: "Switch on tools that have changed: one of a server, or all of it.",
    access: "admin",
    params: z.strictObject({ server: z.string().min(1).max(200) }),
    body: z.strictObject({ tool: z.string().min(1).max(200).optional() }).default({}),
    answers: { 200: { description: "As they are then.", schema: servers } },
    async handle({ params, body, caller }, { mcpTools, mcpCalls }) {
      await known(mcpTools, params.server).trust(params.server, body.tool);
      return Response.json({ servers: mcpView(mcpTools, mcpCalls, caller) });
    },
  }),
];

function known(mcp: McpTools | undefined, name: string): McpTools {
  if (mcp?.status().some((server) => server.name === name)) return mcp;
  throw new AgentError("not_found", `There is no MCP server ${JSON.stringify(name)}.`);
}

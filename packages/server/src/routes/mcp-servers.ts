import type { McpTools } from "@capstan/mcp";
import { AgentError } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { buildMcpServerViews, type McpServerView } from "../views/mcp-server-view.ts";
import { toolSchema } from "./agents.ts";
import { defineRoute, type Route } from "./route.ts";
import { json } from "./schemas.ts";

const server = z.object({
  name: z.string(),
  state: z.enum(["off", "starting", "signing-in", "ready", "restarting", "failed", "closed"]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  address: z
    .string()
    .optional()
    .describe("Its URL without the query, or the name of its program; admins only."),
  needsSignIn: z.boolean(),
  isSignedIn: z.boolean(),
  canRemove: z.boolean().describe("Whether the caller may remove it: it was added here."),
  restarts: z.number().describe("Restarts within the last hour."),
  tools: z.array(toolSchema),
  changed: z
    .array(z.object({ name: z.string(), was: json.optional(), is: json.optional() }))
    .describe("Tools that are disabled because they changed since they were trusted."),
  isApproved: z.boolean().describe("Whether everything the model reads of the server is approved."),
  metadata: z
    .object({
      fingerprint: z.string().describe("Changes with every text. Send it with an approval."),
      tools: z.array(
        z.object({ name: z.string(), description: z.string(), input: json, isApproved: z.boolean() }),
      ),
    })
    .optional()
    .describe("What the model reads of the server; admins only."),
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
  log: z.array(z.string()).optional().describe("Last log lines; admins only."),
});

export const servers: z.ZodType = z.object({ servers: z.array(server) });

export const serverParams: z.ZodObject<{ server: z.ZodString }, z.core.$strict> = z.strictObject({
  server: z.string().min(1).max(200),
});

export const mcpServerRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers",
    summary: "List the MCP servers with their status, tools and your recent calls.",
    responses: { 200: { description: "The servers; empty if none are used.", schema: servers } },
    handle: async ({ caller }, deployment) =>
      Response.json({ servers: await listServers(deployment, caller) }),
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/refresh",
    summary: "Reload the tools of all MCP servers, and start failed servers again.",
    access: "admin",
    responses: { 200: { description: "The servers afterwards.", schema: servers } },
    async handle({ caller }, deployment) {
      await deployment.mcpTools?.refreshTools();
      return Response.json({ servers: await listServers(deployment, caller) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/trust",
    summary: "Approve what the model reads of one tool of a server, or of all, and enable changed tools.",
    access: "admin",
    params: serverParams,
    body: z
      .strictObject({
        tool: z.string().min(1).max(200).optional(),
        fingerprint: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe("Of the metadata you reviewed: the request fails if it has changed since."),
      })
      .default({}),
    responses: { 200: { description: "The servers afterwards.", schema: servers } },
    async handle({ params, body, caller }, deployment) {
      const mcp = assertServer(deployment.mcpTools, params.server);
      await mcp.trust(params.server, body.tool, body.fingerprint);
      return Response.json({ servers: await listServers(deployment, caller) });
    },
  }),
];

/** Describes the servers to a caller. */
export async function listServers(
  { mcpTools, mcpCalls, mcpSettings: { file } }: Deployment,
  caller: Caller,
): Promise<readonly McpServerView[]> {
  const removable = caller.isAdmin ? ((await file?.list()) ?? []) : [];
  return buildMcpServerViews({ mcp: mcpTools, calls: mcpCalls, removable }, caller);
}

/** Throws `not_found` for an unknown server. */
export function assertServer(mcp: McpTools | undefined, name: string): McpTools {
  if (mcp?.status().some((server) => server.name === name)) return mcp;
  throw new AgentError("not_found", `MCP server not found: ${JSON.stringify(name)}.`);
}

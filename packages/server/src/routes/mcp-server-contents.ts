import { AgentError, type Tool } from "capstan";
import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { callMcpTool, readMcpAnswer } from "../views/mcp-answer.ts";
import { assertServer, serverParams } from "./mcp-servers.ts";
import { defineRoute, type Route } from "./route.ts";
import { json } from "./schemas.ts";

const name = z.string().min(1).max(500);
const uri = z.string().min(1).max(4_000);
export const failure: z.ZodType = z.object({ code: z.string(), message: z.string() }).optional();

/** What a server offers besides tools for agents, its tools as the admin's own calls, and its messages. */
export const mcpServerContentRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/tools/{tool}/call",
    summary: "Call a tool of an MCP server yourself, without an agent.",
    access: "admin",
    startsWork: true,
    params: serverParams.extend({ tool: name }),
    body: z.strictObject({
      input: z.record(z.string(), json).describe("The arguments."),
      isConfirmed: z
        .boolean()
        .default(false)
        .describe("Required for a tool that may change or send something."),
    }),
    responses: {
      200: {
        description: "The result, or the error of the tool. Questions of the server are declined.",
        schema: z.object({
          content: json.optional(),
          data: json.optional(),
          error: failure,
          declined: z.array(z.string()),
          ms: z.number(),
        }),
      },
    },
    async handle({ params, body, request }, deployment) {
      const tool = assertTool(params, deployment);
      if (tool.effects !== "none" && !body.isConfirmed)
        throw new AgentError(
          "forbidden",
          `The tool "${params.tool}" may change or send something. Confirm the call with \`isConfirmed\`.`,
        );
      return Response.json(await callMcpTool(tool, body.input, request.signal));
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers/{server}/resources",
    summary: "List the resources of an MCP server.",
    access: "admin",
    params: serverParams,
    responses: {
      200: {
        description: "The resources, or why they could not be listed.",
        schema: z.object({ resources: z.array(json).optional(), error: failure }),
      },
    },
    handle: async ({ params: { server } }, { mcpTools }) =>
      Response.json(
        await readMcpAnswer(async () => ({
          resources: await assertServer(mcpTools, server).resources(server),
        })),
      ),
  }),
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers/{server}/resource",
    summary: "Read a resource of an MCP server.",
    access: "admin",
    params: serverParams,
    query: z.strictObject({ uri }),
    responses: {
      200: {
        description: "The contents, or why they could not be read.",
        schema: z.object({ contents: z.array(json).optional(), error: failure }),
      },
    },
    handle: async ({ params: { server }, query }, { mcpTools }) =>
      Response.json(
        await readMcpAnswer(() => assertServer(mcpTools, server).readResource(server, query.uri)),
      ),
  }),
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers/{server}/prompts",
    summary: "List the prompts of an MCP server.",
    access: "admin",
    params: serverParams,
    responses: {
      200: {
        description: "The prompts, or why they could not be listed.",
        schema: z.object({ prompts: z.array(json).optional(), error: failure }),
      },
    },
    handle: async ({ params: { server } }, { mcpTools }) =>
      Response.json(
        await readMcpAnswer(async () => ({ prompts: await assertServer(mcpTools, server).prompts(server) })),
      ),
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/prompts/{prompt}",
    summary: "Get the messages of a prompt of an MCP server.",
    access: "admin",
    params: serverParams.extend({ prompt: name }),
    body: z.strictObject({ input: z.record(z.string(), z.string()).default({}) }).default({ input: {} }),
    responses: {
      200: {
        description: "The messages, or the reason why they are not recorded.",
        schema: z.object({ messages: z.array(json).optional(), error: failure }),
      },
    },
    handle: async ({ params: { server, prompt }, body }, { mcpTools }) =>
      Response.json(
        await readMcpAnswer(() => assertServer(mcpTools, server).getPrompt(server, prompt, body.input)),
      ),
  }),
  defineRoute({
    method: "GET",
    path: "/api/mcp-servers/{server}/traffic",
    summary:
      "The last JSON-RPC messages between Capstan and an MCP server, of all users, with secrets masked.",
    access: "admin",
    params: serverParams,
    query: z.strictObject({ after: z.coerce.number().int().min(0).optional() }),
    responses: {
      200: {
        description: "The messages after this number, oldest first.",
        schema: z.object({
          messages: z.array(
            z.object({
              number: z.number(),
              at: z.number(),
              direction: z.enum(["sent", "received"]),
              text: z.string().describe("JSON; truncated if it is long."),
              size: z.number().describe("Characters of the whole message."),
            }),
          ),
        }),
      },
    },
    handle: async ({ params: { server }, query: { after } }, { mcpTools }) =>
      Response.json({ messages: assertServer(mcpTools, server).traffic(server, after) }),
  }),
];

function assertTool(
  { server, tool }: { readonly server: string; readonly tool: string },
  { mcpTools }: Deployment,
): Tool {
  const found = assertServer(mcpTools, server).tools.find(({ name }) => name === `mcp_${server}_${tool}`);
  if (found) return found;
  throw new AgentError("not_found", `The MCP server "${server}" offers no tool ${JSON.stringify(tool)}.`);
}

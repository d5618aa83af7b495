import { createHash } from "node:crypto";
import type { ServerConfig } from "@capstan/mcp";
import { AgentError } from "capstan";
import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { isMcpError } from "../views/mcp-answer.ts";
import { assertServer, listServers, serverParams, servers } from "./mcp-servers.ts";
import { defineRoute, type Route } from "./route.ts";

const text = z.string().max(4_000);
const texts = z.record(z.string().min(1).max(200), text);

const urlConfig = z.strictObject({
  url: text.min(1),
  headers: texts.optional(),
});
const commandConfig = z.strictObject({
  command: text.min(1),
  args: z.array(text).max(100).optional(),
  env: texts.optional(),
});

/** Where the authorization server of an MCP server sends the user back to. Not an API path: another site links here. */
export const mcpCallbackPath = "/mcp-callback";

export const mcpServerChangeRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/mcp-settings",
    summary: "What admins may do with the MCP servers of this deployment.",
    access: "admin",
    responses: {
      200: {
        description: "The settings.",
        schema: z.object({
          canAdd: z.boolean(),
          allowsCommands: z
            .boolean()
            .describe("Whether servers may be programs, which run on the server's machine."),
          file: z.string().optional().describe("Where added servers are stored."),
        }),
      },
    },
    async handle(_, { mcpTools, mcpSettings: { file, allowsCommands = false } }) {
      const canAdd = mcpTools !== undefined && file !== undefined;
      return Response.json({ canAdd, allowsCommands, ...(file && { file: file.path }) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers",
    summary: "Add an MCP server. It is started at once, and again with the process.",
    access: "admin",
    body: z.strictObject({ name: z.string().min(1).max(41), config: z.union([urlConfig, commandConfig]) }),
    responses: { 200: { description: "The servers afterwards.", schema: servers } },
    async handle({ body: { name, config }, caller }, deployment) {
      await addServer(name, config as ServerConfig, deployment);
      return Response.json({ servers: await listServers(deployment, caller) });
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/mcp-servers/{server}",
    summary: "Stop an MCP server that was added, and forget it.",
    access: "admin",
    params: serverParams,
    responses: { 200: { description: "The servers afterwards.", schema: servers } },
    async handle({ params, caller }, deployment) {
      await removeServer(params.server, deployment);
      return Response.json({ servers: await listServers(deployment, caller) });
    },
  }),
];

export const mcpSignInRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/sign-in",
    summary: "Start a sign-in to an MCP server. Open the page that is returned in a browser.",
    access: "admin",
    params: serverParams,
    responses: {
      200: {
        description: "The page of the authorization server; missing if the server asks for no sign-in.",
        schema: z.object({ page: z.string().optional() }),
      },
    },
    async handle({ params: { server }, request }, { mcpTools, mcpSettings: { redirect }, basePath }) {
      const mcp = assertServer(mcpTools, server);
      if (!redirect)
        throw new AgentError("forbidden", "Users cannot sign in to MCP servers of this deployment.");
      const page = await redirect.begin({
        server,
        url: `${getOrigin(request)}${basePath}${mcpCallbackPath}`,
        connect: () => mcp.signIn(server),
      });
      return Response.json(page ? { page: page.href } : {});
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/mcp-servers/{server}/sign-out",
    summary: "Delete the tokens of an MCP server.",
    access: "admin",
    params: serverParams,
    responses: { 200: { description: "The servers afterwards.", schema: servers } },
    async handle({ params: { server }, caller }, deployment) {
      await assertServer(deployment.mcpTools, server).signOut(server);
      return Response.json({ servers: await listServers(deployment, caller) });
    },
  }),
  defineRoute({
    method: "GET",
    path: mcpCallbackPath,
    summary: "The end of a sign-in to an MCP server, in a browser.",
    // The browser comes from another site, without its cookie: the random `state` identifies the sign-in.
    access: "anyone",
    query: z.looseObject({}),
    responses: {
      200: { description: "A page for the user.", type: "text/html" },
      400: { description: "A page for the user: no sign-in waits for this.", type: "text/html" },
    },
    async handle({ request }, { mcpSettings: { redirect }, basePath }) {
      const isAwaited = redirect?.receive(new URL(request.url).searchParams) ?? false;
      return createCallbackPage(isAwaited, `${basePath}/mcp-servers`);
    },
  }),
];

async function addServer(
  name: string,
  config: ServerConfig,
  { mcpTools, mcpSettings: { file, allowsCommands = false } }: Deployment,
): Promise<void> {
  if (!mcpTools || !file)
    throw new AgentError("forbidden", "MCP servers cannot be added to this deployment here.");
  if (!allowsCommands && "command" in config)
    throw new AgentError(
      "forbidden",
      "Servers that are programs are off here, because a program runs with the rights of this server. The operator allows them with `--mcp-commands`, or adds one with `capstan mcp add`.",
    );
  if (!allowsCommands && JSON.stringify(config).includes("${"))
    throw new AgentError(
      "forbidden",
      "Variables would be read from the environment of this server. The operator allows them with `--mcp-commands`.",
    );
  try {
    await mcpTools.add(name, config);
  } catch (thrown) {
    throw isMcpError(thrown) ? new AgentError("invalid_input", thrown.message) : thrown;
  }
  try {
    await file.put(name, config);
  } catch (thrown) {
    await mcpTools.remove(name);
    throw isMcpError(thrown) ? new AgentError("invalid_input", thrown.message) : thrown;
  }
}

async function removeServer(name: string, { mcpTools, mcpSettings: { file } }: Deployment): Promise<void> {
  const mcp = assertServer(mcpTools, name);
  if (!(await file?.list())?.includes(name))
    throw new AgentError(
      "forbidden",
      `The MCP server "${name}" was not added here. Remove it from the configuration that names it.`,
    );
  await file?.remove(name);
  await mcp.remove(name);
}

/** Returns the origin that the user's browser knows. A proxy may have removed TLS, which only `Origin` tells. */
function getOrigin({ url, headers }: Request): string {
  const { protocol, host: urlHost } = new URL(url);
  const host = headers.get("host") ?? urlHost;
  const origin = headers.get("origin");
  if (origin !== null && URL.canParse(origin) && new URL(origin).host === host) return origin;
  return `${protocol}//${host}`;
}

const style =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}";
const styleHash = createHash("sha256").update(style).digest("base64");

function createCallbackPage(isAwaited: boolean, studioPath: string): Response {
  const title = isAwaited ? "Back from the sign-in" : "No sign-in waits for this";
  const advice = isAwaited
    ? "You can close this page. The studio shows whether you are signed in."
    : "It has ended or was started elsewhere. Start it again.";
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1><p>${advice}</p><p><a href="${studioPath}">MCP servers</a></p></main></body></html>\n`;
  return new Response(page, {
    status: isAwaited ? 200 : 400,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`,
    },
  });
}

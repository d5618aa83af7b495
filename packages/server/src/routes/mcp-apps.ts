import { createHash } from "node:crypto";
import type { AppDomains, McpApp } from "@capstan/mcp";
import { AgentError } from "capstan";
import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { getAppAgentName } from "../mcp-apps/app-agents.ts";
import { createAppCallEntry } from "../mcp-apps/app-call-model.ts";
import { buildAppPolicy, buildConnectionAllowlist } from "../mcp-apps/app-policy.ts";
import { startRun } from "../runs/start-run.ts";
import { readMcpAnswer } from "../views/mcp-answer.ts";
import { failure } from "./mcp-server-contents.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";

const params = z.strictObject({
  sessionId: id,
  seq: z.coerce
    .number()
    .int()
    .min(1)
    .describe("Position of the `tool_call_start` of a tool that has an app."),
});

const digest = z.string().min(1).max(100);
const origins = z.array(z.string());
const appInfo = z.object({
  server: z.string(),
  domains: z
    .object({ connect: origins, resource: origins, frame: origins })
    .describe("Origins that the app may use."),
  digest: digest.describe("Send it with the request for the page."),
});

/** The page of an MCP App, for a frame, and the calls that it makes. */
export const mcpAppRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/apps/{seq}",
    summary: "Describe the MCP App of a call.",
    params,
    responses: {
      200: {
        description: "The app, or why it cannot be shown.",
        schema: z.object({ app: appInfo.optional(), error: failure }),
      },
    },
    async handle({ params: call, caller }, deployment) {
      const app = await findApp(call, deployment);
      const answer = await readMcpAnswer(async () => {
        const { domains } = await app.read();
        return { app: { server: app.server, domains, digest: computeDigest(domains) } };
      });
      // What fails at a server is for admins.
      if (!("error" in answer) || caller.isAdmin) return Response.json(answer);
      const message = "The app cannot be shown. An admin can see the reason.";
      return Response.json({ error: { code: answer.error.code, message } });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/apps/{seq}/page",
    summary: "The page of the MCP App of a call, for a frame without access to anything else.",
    params,
    query: z.strictObject({ digest: digest.optional().describe("Of the origins that the user can see.") }),
    responses: { 200: { description: "The page, with the policy that it needs.", type: "text/html" } },
    async handle({ params: call, query, request }, deployment) {
      // A window of its own could send what it knows to any site.
      if ((request.headers.get("sec-fetch-dest") ?? "iframe") !== "iframe")
        throw new AgentError("forbidden", "The page of an app is shown in a frame only.");
      const { html, domains } = await (await findApp(call, deployment)).read();
      if (computeDigest(domains) !== query.digest)
        throw new AgentError("approval_mismatch", "The app needs other origins than before. Load it again.");
      const headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": buildAppPolicy(domains),
        "connection-allowlist": buildConnectionAllowlist(domains),
        "x-dns-prefetch-control": "off",
      };
      return new Response(html, { headers });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sessions/{sessionId}/apps/{seq}/calls",
    summary: "Make a call for an MCP App: a run of its own, whose calls with an effect need approval.",
    startsWork: true,
    params,
    body: z.strictObject({
      tool: z.string().min(1).max(200).describe("The server's name for the tool."),
      arguments: z.record(z.string(), json).default({}),
    }),
    responses: {
      202: {
        description: "The run. It waits while the session is busy.",
        schema: z.object({ runId: id, sessionId: id }),
      },
    },
    async handle({ params: call, body, caller, key, canWait }, deployment) {
      const { server } = await findApp(call, deployment);
      const tool = deployment.mcpTools?.appTools(server).get(body.tool);
      if (!tool)
        throw new AgentError(
          "unknown_tool",
          `The apps of the MCP server "${server}" may not call ${JSON.stringify(body.tool)}.`,
        );
      const entry = createAppCallEntry(server, { name: tool.name, arguments: body.arguments as never });
      const { runId, sessionId } = await startRun(deployment, caller, {
        input: { history: [entry] },
        agent: getAppAgentName(server),
        sessionId: call.sessionId,
        ...{ key, canWait },
      });
      return Response.json({ runId, sessionId }, { status: 202 });
    },
  }),
];

const computeDigest = (domains: AppDomains): string =>
  createHash("sha256").update(JSON.stringify(domains)).digest("base64url");

/** Finds the app by the tool that was called, never by what a result or a request says. */
async function findApp(
  { sessionId, seq }: z.output<typeof params>,
  { store, mcpTools }: Deployment,
): Promise<McpApp> {
  const [fact] = await store.read(sessionId, seq - 1, 1);
  const app = fact?.type === "tool_call_start" ? mcpTools?.findApp(fact.name) : undefined;
  if (!app) throw new AgentError("not_found", "This call has no app, or its MCP server is gone.");
  return app;
}

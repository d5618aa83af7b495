import { z } from "zod";
import { findFailedChecks } from "../telemetry/readiness.ts";
import { buildOpenApi } from "../views/openapi.ts";
import { agentPictures, buildServerInfo } from "../views/server-info.ts";
import { defineRoute, type Route } from "./route.ts";

const about: z.ZodType = z.object({
  name: z.string(),
  version: z.string(),
  model: z.string().describe("The default model."),
  isOffline: z.boolean().describe("Answers come from rules instead of a model."),
  user: z.string().describe("Empty for the local user."),
  isAdmin: z.boolean(),
  agents: z.array(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      suggestions: z.array(z.string()).optional(),
      topics: z.array(z.string()).optional().describe("Words and names that questions for it contain."),
      picture: z.enum(agentPictures).optional().describe("What its picture in a user interface shows."),
      app: z.string().optional().describe("The app, if this is its agent on own data."),
    }),
  ),
  eventViews: z
    .array(z.object({ name: z.string(), description: z.string() }))
    .describe("Views of the events, for `?events=<name>`."),
});

export const aboutRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/about",
    summary: "Describe this server, the caller, and the available agents.",
    responses: { 200: { description: "Contains no secrets.", schema: about } },
    handle: async ({ caller }, deployment) => Response.json(await buildServerInfo(deployment, caller)),
  }),
];

const status = (value: "ok" | "draining" | "ready") => z.object({ status: z.literal(value) });
const unready = z.object({
  status: z.literal("not ready"),
  failed: z.array(z.enum(["draining", "store", "load"])).describe("The checks that fail."),
});

export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/health",
    summary: "Whether the server accepts work.",
    access: "anyone",
    responses: {
      200: { description: "It is.", schema: status("ok") },
      503: { description: "The server is shutting down, or an admin drains it.", schema: status("draining") },
    },
    async handle(_, { shutdownSignal, drain }) {
      if (!shutdownSignal.aborted && !drain.isOn) return Response.json({ status: "ok" });
      return Response.json({ status: "draining" }, { status: 503, headers: { "retry-after": "1" } });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/healthz",
    summary: "Whether the process answers. Restart it if it does not.",
    access: "anyone",
    responses: { 200: { description: "It does, also while it shuts down.", schema: status("ok") } },
    handle: async () => Response.json({ status: "ok" }),
  }),
  defineRoute({
    method: "GET",
    path: "/readyz",
    summary: "Whether the server should get requests.",
    access: "anyone",
    responses: {
      200: { description: "It should.", schema: status("ready") },
      503: {
        description:
          "It is shutting down or drained, cannot reach its store, or has been overloaded for long.",
        schema: unready,
      },
    },
    async handle(_, deployment) {
      const failed = await findFailedChecks(deployment);
      if (failed.length === 0) return Response.json({ status: "ready" });
      const headers = { "retry-after": "1" };
      return Response.json({ status: "not ready", failed }, { status: 503, headers });
    },
  }),
];

const type = "text/plain; version=0.0.4; charset=utf-8";

export const metricsRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/metrics",
    summary: "Metrics of this process in the Prometheus text format.",
    access: "admin",
    responses: { 200: { description: "Counts and durations; no content.", type: "text/plain" } },
    handle: async (_, { metrics }) =>
      new Response(await metrics.format(), {
        headers: { "content-type": type, "cache-control": "no-store" },
      }),
  }),
];

/** Creates the route of the OpenAPI document, which includes itself. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  let text: string | undefined;
  const own: readonly Route[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document.",
      responses: {
        200: {
          description: "OpenAPI 3.1.",
          schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
        },
      },
      async handle() {
        text ??= JSON.stringify(buildOpenApi([...routes, ...own]));
        return new Response(text, { headers: { "content-type": "application/json" } });
      },
    }),
  ];
  return own;
}

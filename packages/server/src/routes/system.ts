import { z } from "zod";
import { buildOpenApi } from "../views/openapi.ts";
import { buildServerInfo } from "../views/server-info.ts";
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
    }),
  ),
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

const status = (value: "ok" | "draining") => z.object({ status: z.literal(value) });

export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/health",
    summary: "Whether the server accepts work.",
    access: "anyone",
    responses: {
      200: { description: "It is.", schema: status("ok") },
      503: { description: "The server is shutting down.", schema: status("draining") },
    },
    async handle(_, { shutdownSignal }) {
      if (!shutdownSignal.aborted) return Response.json({ status: "ok" });
      return Response.json({ status: "draining" }, { status: 503, headers: { "retry-after": "1" } });
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
      new Response(metrics.format(), { headers: { "content-type": type, "cache-control": "no-store" } }),
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

import { z } from "zod";
import { openApi } from "../views/openapi.ts";
import { aboutServer } from "../views/server-info.ts";
import { defineRoute, type Route } from "./route.ts";

const about: z.ZodType = z.object({
  name: z.string(),
  version: z.string(),
  model: z.string().describe("The one that answers when nothing else is chosen."),
  isOffline: z.boolean().describe("Rules answer, and no model."),
  user: z.string().describe("Empty for the one local user."),
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

/** What a user interface shows before anything is asked. */
export const aboutRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/about",
    summary: "This server, who you are to it, and the agents you can ask.",
    answers: { 200: { description: "Nothing of it is secret.", schema: about } },
    handle: async ({ caller }, deployment) => Response.json(await aboutServer(deployment, caller)),
  }),
];

const status = (value: "ok" | "draining") => z.object({ status: z.literal(value) });

/** Whether the server takes work, for whatever looks after it. */
export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/health",
    summary: "Whether the server is there, and takes work.",
    access: "anyone",
    answers: {
      200: { description: "It is.", schema: status("ok") },
      503: { description: "It is about to leave.", schema: status("draining") },
    },
    async handle(_, { leaving }) {
      if (!leaving.aborted) return Response.json({ status: "ok" });
      return Response.json({ status: "draining" }, { status: 503, headers: { "retry-after": "1" } });
    },
  }),
];

const type = "text/plain; version=0.0.4; charset=utf-8";

/** Figures about the server, for whoever looks after it. */
export const metricsRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/metrics",
    summary: "What this process has counted, in the text format of Prometheus.",
    access: "admin",
    answers: { 200: { description: "Counts and times; nothing that was said.", type: "text/plain" } },
    handle: async (_, { metrics }) =>
      new Response(metrics.text(), { headers: { "content-type": type, "cache-control": "no-store" } }),
  }),
];

/** The document that describes these routes, and itself. */
export function openApiRoutes(routes: readonly Route[]): readonly Route[] {
  let text: string | undefined;
  const own: readonly Route[] = [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "This document.",
      answers: {
        200: {
          description: "OpenAPI 3.1.",
          schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
        },
      },
      async handle() {
        text ??= JSON.stringify(openApi([...routes, ...own]));
        return new Response(text, { headers: { "content-type": "application/json" } });
      },
    }),
  ];
  return own;
}

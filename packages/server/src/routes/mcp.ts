import { z } from "zod";
import { defineRoute, type Method, type Route } from "./route.ts";

const summaries: { readonly [Name in Extract<Method, "POST" | "GET" | "DELETE">]: string } = {
  POST: "A message of an MCP client.",
  GET: "Server messages for an MCP client (2025 protocol versions).",
  DELETE: "End an MCP session (2025 protocol versions).",
};

/** MCP server. The protocol validates its own bodies and has its own errors. */
export const mcpRoutes: readonly Route[] = (["POST", "GET", "DELETE"] as const).map((method) =>
  defineRoute({
    method,
    path: "/mcp",
    summary: summaries[method],
    startsWork: method === "POST",
    responses: {
      200: { description: "As the Model Context Protocol defines it.", schema: z.looseObject({}) },
    },
    handle: ({ request, caller }, { mcpService }) => mcpService.handle(request, caller),
  }),
);

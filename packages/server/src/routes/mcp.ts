import { z } from "zod";
import { defineRoute, type Method, type Route } from "./route.ts";

const summaries: { readonly [Name in Extract<Method, "POST" | "GET" | "DELETE">]: string } = {
  POST: "A message of an MCP client.",
  GET: "What an MCP client of the 2025 era is told by itself.",
  DELETE: "Ends the connection of an MCP client of the 2025 era.",
};

/** Agents for MCP clients. The protocol checks its own bodies and has its own errors. */
export const mcpRoutes: readonly Route[] = (["POST", "GET", "DELETE"] as const).map((method) =>
  defineRoute({
    method,
    path: "/mcp",
    summary: summaries[method],
    beginsWork: method === "POST",
    answers: { 200: { description: "As the Model Context Protocol says.", schema: z.looseObject({}) } },
    handle: ({ request, caller }, { mcp }) => mcp.answer(request, caller),
  }),
);

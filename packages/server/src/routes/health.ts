import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";

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

import { defineRoute, type Route } from "./route.ts";

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

import { z } from "zod";
import { quotaWindows } from "../access/quotas.ts";
import { loadUsageView } from "../views/usage-view.ts";
import { defineRoute, type Route } from "./route.ts";

const windowLimits = z.union([
  z.strictObject(Object.fromEntries(quotaWindows.map((window) => [window, z.number().min(0).optional()]))),
  z.literal("unlimited"),
]);
const plainLimit = z.union([z.number().min(0), z.literal("unlimited")]);

export const quotasSchema: z.ZodType = z
  .strictObject({
    runs: windowLimits.optional(),
    tokens: windowLimits.optional(),
    cost: windowLimits.optional().describe("US dollars."),
    storage: plainLimit.optional().describe("Bytes of all sessions."),
    sessions: plainLimit.optional(),
    concurrentRuns: plainLimit.optional(),
    streams: plainLimit.optional(),
  })
  .describe("A missing field limits nothing.");

const windowUsage = z.object({
  runs: z.number(),
  tokens: z.number(),
  cost: z.number(),
  resetsAt: z.string(),
});

export const usageSchema: z.ZodType = z.object({
  user: z.string().describe("Empty for the local user."),
  quotas: quotasSchema,
  windows: z.object(Object.fromEntries(quotaWindows.map((window) => [window, windowUsage]))),
  reserved: z.object({ tokens: z.number(), cost: z.number() }).describe("What active runs may still use."),
  activeRuns: z.number(),
  storage: z.object({ sessions: z.number(), bytes: z.number() }),
});

export const usageRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/usage",
    summary: "Get your quotas, and what you have used of them.",
    responses: { 200: { description: "In the current windows.", schema: usageSchema } },
    handle: async ({ caller: { scope, quotas } }, deployment) =>
      Response.json(await loadUsageView(deployment, scope, quotas)),
  }),
];

import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";

/** What stored agents can be made of. */
export const agentPartRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/agent-parts",
    summary: "What the data of a stored agent may name: tools, sources, models; and its loosest policy.",
    answers: {
      200: {
        description: "Names alone.",
        schema: z.object({
          tools: z.array(z.object({ name: z.string(), description: z.string().optional() })),
          sources: z.array(z.string()),
          models: z.array(z.string()).optional().describe("Left out: any `provider/model`."),
          policyLimits: z.looseObject({}),
        }),
      },
    },
    handle: async (_, { agentParts }) => Response.json(agentParts),
  }),
];

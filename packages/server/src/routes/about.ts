import { z } from "zod";
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

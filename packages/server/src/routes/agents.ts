import { AgentError } from "capstan";
import type { AgentData } from "capstan/agents";
import { z } from "zod";
import { agentView } from "../views/agent-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { json } from "./schemas.ts";

const name = z.string().min(1).max(200);
const params = z.strictObject({ name });
const version = z.coerce.number().int().min(1).optional();

/** A tool as people choose agents by it. */
export const toolSchema: z.ZodType = z.object({
  name: z.string(),
  description: z.string(),
  effects: z.enum(["none", "ui", "state", "send"]).optional(),
  reads: z.array(z.enum(["public", "private", "untrusted"])).optional(),
  needsApproval: z.boolean(),
  isClientSide: z.boolean().describe("The client runs it: the run waits for the result."),
});

const agent: z.ZodType = z.object({
  name: z.string(),
  source: z.enum(["coded", "user", "imported"]),
  description: z.string().optional(),
  models: z.array(z.string()),
  tools: z.array(toolSchema),
  handoffs: z.array(z.string()),
  problem: z.string().optional().describe("Why it cannot run."),
  version: z.int().min(1).optional(),
  createdAt: z.number().optional(),
  updatedAt: z.number().optional(),
  data: z.looseObject({}).optional().describe("What a stored one is made of, for admins."),
});

/** The agents that can be asked, and for admins the making of more. */
export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/agents",
    summary: "The agents of this server: those in its code, then those that people have made.",
    answers: { 200: { description: "All of them.", schema: z.object({ agents: z.array(agent) }) } },
    async handle({ caller }, deployment) {
      const listed = await deployment.agents.list();
      const agents = await Promise.all(listed.map((one) => agentView(deployment, one, caller)));
      return Response.json({ agents });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/agents/{name}",
    summary: "An agent; of a stored one the current version, or another.",
    params,
    query: z.strictObject({ version }),
    answers: { 200: { description: "The agent.", schema: agent } },
    async handle({ params: { name }, query, caller }, deployment) {
      const listed = await deployment.agents.get(name, query.version);
      if (!listed) throw new AgentError("unknown_agent", `There is no agent ${JSON.stringify(name)}.`);
      const view = await agentView(deployment, listed, caller);
      return Response.json(view);
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/api/agents/{name}",
    summary: "Store the next version of an agent. It is data: names, texts and numbers, never code.",
    access: "admin",
    params,
    body: z.strictObject({
      data: z.record(z.string(), json),
      expectedVersion: z.int().min(0).describe("The one it was made from; 0 for a new agent."),
    }),
    answers: { 200: { description: "The agent as stored.", schema: agent } },
    async handle({ params: { name }, body: { data, expectedVersion }, caller }, deployment) {
      if (data.name !== name)
        throw new AgentError("invalid_input", `The body cannot be used at data.name: it must be ${name}.`);
      // It is checked by what stores it.
      const saved = await deployment.agents.save(data as unknown as AgentData, expectedVersion);
      return Response.json(await agentView(deployment, saved, caller));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/agents/{name}",
    summary: "Remove a stored agent with all its versions.",
    access: "admin",
    params,
    query: z.strictObject({ expectedVersion: z.coerce.number().int().min(1) }),
    answers: { 204: { description: "It is gone." } },
    async handle({ params: { name }, query: { expectedVersion } }, { agents }) {
      await agents.remove(name, expectedVersion);
      return new Response(null, { status: 204 });
    },
  }),
];

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

import { AgentError } from "capstan";
import {
  type AgentData,
  listAgentVersions,
  removeAgentVersions,
  restoreAgent,
  storeAgentVersion,
} from "capstan/agents";
import { z } from "zod";
import { buildAgentView } from "../views/agent-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { json } from "./schemas.ts";

const name = z.string().min(1).max(200);
const params = z.strictObject({ name });
const version = z.coerce.number().int().min(1).optional();

export const toolSchema: z.ZodType = z.object({
  name: z.string(),
  description: z.string(),
  examples: z.array(z.string()).optional().describe("Phrases of users that it is for, with `{slots}`."),
  effects: z.enum(["none", "ui", "state", "send"]).optional(),
  reads: z.array(z.enum(["public", "private", "untrusted"])).optional(),
  needsApproval: z.boolean(),
  isClientSide: z.boolean().describe("The client runs it; the run waits for the result."),
});

const agent: z.ZodType = z.object({
  name: z.string(),
  source: z.enum(["coded", "user", "imported", "data"]),
  description: z.string().optional(),
  models: z.array(z.string()),
  tools: z.array(toolSchema),
  skills: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        provenance: z
          .enum(["operator", "external"])
          .describe("`external`: not trusted, so not in the instructions."),
      }),
    )
    .optional()
    .describe("The skills that the agent can load. Absent without any."),
  handoffs: z.array(z.string()),
  problem: z.string().optional().describe("Why the agent cannot run."),
  warning: z.string().optional().describe("Settings that its models ignore."),
  version: z.int().min(1).optional(),
  createdAt: z.number().optional(),
  updatedAt: z.number().optional(),
  data: z.looseObject({}).optional().describe("Definition of a stored agent; admins only."),
});

const agentVersion: z.ZodType = z.object({
  version: z.string().describe("A hash of the definition, as in the `run_start` of its runs."),
  number: z.int().min(1).optional().describe("The number of a stored agent's version."),
  createdAt: z.number(),
  isCurrent: z.boolean().describe("New runs use it."),
  definition: z
    .looseObject({})
    .optional()
    .describe("Instructions, models, tools, handoffs, settings and policy; admins only."),
});

export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/agents",
    summary: "List the agents: those defined in code, stored ones, then those on own data.",
    responses: { 200: { description: "The agents.", schema: z.object({ agents: z.array(agent) }) } },
    async handle({ caller }, deployment) {
      const listed = await deployment.agents.list();
      for (const one of listed)
        if (one.source === "coded") await storeAgentVersion(deployment.store, one.agent);
      const agents = await Promise.all(listed.map((one) => buildAgentView(deployment, one, caller)));
      return Response.json({ agents });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/agents/{name}",
    summary: "Get an agent; for a stored one the current or a given version.",
    params,
    query: z.strictObject({ version }),
    responses: { 200: { description: "The agent.", schema: agent } },
    async handle({ params: { name }, query, caller }, deployment) {
      const listed = await deployment.agents.get(name, query.version);
      if (!listed) throw new AgentError("unknown_agent", `Unknown agent ${JSON.stringify(name)}.`);
      const view = await buildAgentView(deployment, listed, caller);
      return Response.json(view);
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/api/agents/{name}",
    summary: "Store the next version of an agent. Agents are data and contain no code.",
    access: "admin",
    params,
    body: z.strictObject({
      data: z.record(z.string(), json),
      expectedVersion: z.int().min(0).describe("The version that was edited; 0 for a new agent."),
    }),
    responses: { 200: { description: "The stored agent.", schema: agent } },
    async handle({ params: { name }, body: { data, expectedVersion }, caller }, deployment) {
      if (data.name !== name)
        throw new AgentError("invalid_input", `Invalid body at data.name: must be ${name}.`);
      // Validated by `save`.
      const saved = await deployment.agents.save(data as unknown as AgentData, expectedVersion);
      await storeAgentVersion(deployment.store, await deployment.agents.agent(name), saved.version);
      return Response.json(await buildAgentView(deployment, saved, caller));
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/agents/{name}/versions",
    summary: "List the versions of an agent that were used or saved, newest first.",
    params,
    responses: {
      200: { description: "The versions.", schema: z.object({ versions: z.array(agentVersion) }) },
    },
    async handle({ params: { name }, caller: { isAdmin } }, { agents, store }) {
      const listed = await agents.get(name);
      if (!listed) throw new AgentError("unknown_agent", `Unknown agent ${JSON.stringify(name)}.`);
      const number = "version" in listed ? listed.version : undefined;
      const current = await agents.agent(name).catch(() => undefined); // one that cannot run has older versions
      if (current) await storeAgentVersion(store, current, number);
      const versions = await listAgentVersions(store, agents, name);
      return Response.json({
        versions: isAdmin ? versions : versions.map(({ definition: _, ...version }) => version),
      });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/agents/{name}/restore",
    summary: "Store the data of an older version of a stored agent as its next version.",
    access: "admin",
    params,
    body: z.strictObject({
      version: z.int().min(1).describe("The number of the version to restore."),
      expectedVersion: z.int().min(1).describe("The version that is current."),
    }),
    responses: { 200: { description: "The stored agent.", schema: agent } },
    async handle({ params: { name }, body, caller }, deployment) {
      const version = { name, number: body.version };
      const saved = await restoreAgent(deployment.agents, version, body.expectedVersion);
      return Response.json(await buildAgentView(deployment, saved, caller));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/agents/{name}",
    summary: "Remove a stored agent and all its versions.",
    access: "admin",
    params,
    query: z.strictObject({ expectedVersion: z.coerce.number().int().min(1) }),
    responses: { 204: { description: "Removed." } },
    async handle({ params: { name }, query: { expectedVersion } }, { agents, store }) {
      await agents.remove(name, expectedVersion);
      await removeAgentVersions(store, name);
      return new Response(null, { status: 204 });
    },
  }),
];

export const agentPartRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/agent-parts",
    summary: "List the tools, sources and models that a stored agent may use, and its limits.",
    responses: {
      200: {
        description: "Names only.",
        schema: z.object({
          tools: z.array(z.object({ name: z.string(), description: z.string().optional() })),
          sources: z.array(z.string()),
          models: z.array(z.string()).optional().describe("Omitted if any `provider/model` is allowed."),
          policyLimits: z.looseObject({}),
          settingsLimits: z.looseObject({}),
        }),
      },
    },
    handle: async (_, { agentParts }) => Response.json(agentParts),
  }),
];

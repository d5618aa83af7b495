import { findModelsOnMachine } from "capstan/model-files";
import { knownModels } from "capstan/models";
import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { getModelName } from "../views/server-info.ts";
import { defineRoute, type Route } from "./route.ts";

const key = z.discriminatedUnion("type", [
  z.object({ type: z.literal("set"), variable: z.string() }),
  z.object({ type: z.literal("missing"), variables: z.array(z.string()) }),
  z.object({ type: z.literal("external"), source: z.string() }),
  z.object({ type: z.literal("not_needed") }),
  z.object({ type: z.literal("unknown_provider") }),
]);

const model = z.object({
  model: z.string().optional().describe("Omitted for a provider with many models."),
  provider: z.string(),
  inUse: z.boolean().describe("The default model."),
  isOffered: z.boolean().describe("A request may choose it."),
  isLocal: z.boolean().describe("Found on this machine: in a file, or on a running model server."),
  key: key.describe("The variable with the key, or the missing ones; never the key."),
  price: z
    .object({ input: z.number(), output: z.number() })
    .optional()
    .describe("US dollars per million tokens."),
  contextWindow: z.number().optional().describe("Maximum tokens of input and output together."),
});

export const modelRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/models",
    summary: "List the models of this server and of known providers, and which keys are set.",
    responses: {
      200: { description: "The default model first.", schema: z.object({ models: z.array(model) }) },
    },
    handle: async (_, deployment) => Response.json({ models: await listModels(deployment) }),
  }),
];

async function listModels(deployment: Deployment): Promise<readonly object[]> {
  const { models, agents } = deployment;
  const inUse = getModelName(await deployment.resolveAgent());
  const coded = (await agents.list()).flatMap((one) =>
    one.source === "coded" ? [getModelName(one.agent)] : [],
  );
  const found = models.includesLocal ? await findModelsOnMachine() : [];
  const known = await knownModels({ inUse, named: [...models.keys(), ...coded], found, env: process.env });
  return known.map((one) => ({
    ...one,
    isOffered: one.model !== undefined && models.has(one.model),
    isLocal: one.model !== undefined && found.includes(one.model),
  }));
}

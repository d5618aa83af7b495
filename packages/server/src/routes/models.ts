import { knownModels } from "capstan/models";
import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { modelNameOf } from "../views/server-info.ts";
import { defineRoute, type Route } from "./route.ts";

const key = z.discriminatedUnion("type", [
  z.object({ type: z.literal("set"), variable: z.string() }),
  z.object({ type: z.literal("missing"), variables: z.array(z.string()) }),
  z.object({ type: z.literal("not_needed") }),
  z.object({ type: z.literal("unknown_provider") }),
]);

const model = z.object({
  model: z.string().optional().describe("Left out for a provider whose models are many."),
  provider: z.string(),
  inUse: z.boolean().describe("It answers when nothing else is chosen."),
  isOffered: z.boolean().describe("A request may name it."),
  key: key.describe("Which variable has the key, or which one is missing; never the key."),
  price: z
    .object({ input: z.number(), output: z.number() })
    .optional()
    .describe("In US dollars per million tokens."),
});

/** The models that are, or could be, asked. */
export const modelRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/models",
    summary: "The models of this server and of the providers it knows, and which keys are set.",
    answers: { 200: { description: "The one in use first.", schema: z.object({ models: z.array(model) }) } },
    handle: async (_, deployment) => Response.json({ models: await modelsOf(deployment) }),
  }),
];

async function modelsOf(deployment: Deployment): Promise<readonly object[]> {
  const { models, agents } = deployment;
  const inUse = modelNameOf(await deployment.agent());
  const coded = (await agents.list()).flatMap((one) =>
    one.source === "coded" ? [modelNameOf(one.agent)] : [],
  );
  const known = await knownModels({ inUse, named: [...models.keys(), ...coded], env: process.env });
  return known.map((one) => ({ ...one, isOffered: one.model !== undefined && models.has(one.model) }));
}

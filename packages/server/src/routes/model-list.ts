import { z } from "zod";
import type { Deployment } from "../deployment.ts";
import { isAnthropicRequest } from "../protocols/api-errors.ts";
import { createModelNotFoundError } from "../runs/agent-resolver.ts";
import { defineRoute, type Route } from "./route.ts";

const openaiModel = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});
const anthropicModel = z.looseObject({
  id: z.string(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.string(),
});
const openaiList = z.object({ object: z.literal("list"), data: z.array(openaiModel) });
const anthropicList = z.object({
  data: z.array(anthropicModel),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

const pageField = z.string().max(400).optional();

/** The agents as models of OpenAI's API or, with the header `anthropic-version`, of Anthropic's. */
export const modelListRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/v1/models",
    summary: "List the agents as models. `agent@model` is an agent with another model.",
    // All models are one page, so the size and the start of a page do not matter.
    query: z.strictObject({ limit: pageField, after_id: pageField, before_id: pageField }),
    responses: { 200: { description: "The models.", schema: z.union([openaiList, anthropicList]) } },
    async handle({ request }, deployment) {
      const names = await listModelNames(deployment);
      return Response.json(isAnthropicRequest(request) ? buildAnthropicList(names) : buildOpenaiList(names));
    },
  }),
  defineRoute({
    method: "GET",
    path: "/v1/models/{model}",
    summary: "Get one model.",
    params: z.strictObject({ model: z.string().max(400) }),
    responses: { 200: { description: "The model.", schema: z.union([openaiModel, anthropicModel]) } },
    async handle({ params: { model }, request }, deployment) {
      if (!(await listModelNames(deployment)).includes(model)) throw createModelNotFoundError(model);
      return Response.json(isAnthropicRequest(request) ? toAnthropicModel(model) : toOpenaiModel(model));
    },
  }),
];

async function listModelNames({ agents, models }: Deployment): Promise<readonly string[]> {
  const names = (await agents.list()).map(({ name }) => name);
  return names.flatMap((name) => [name, ...[...models.keys()].map((model) => `${name}@${model}`)]);
}

function buildOpenaiList(names: readonly string[]): z.output<typeof openaiList> {
  return { object: "list", data: names.map(toOpenaiModel) };
}

function buildAnthropicList(names: readonly string[]): z.output<typeof anthropicList> {
  const data = names.map(toAnthropicModel);
  return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
}

function toOpenaiModel(id: string): z.output<typeof openaiModel> {
  return { id, object: "model", created: 0, owned_by: "capstan" };
}

/** A model of Anthropic's API. The server does not know what the model behind an agent can do. */
export type AnthropicModel = {
  readonly id: string;
  readonly type: "model";
  readonly display_name: string;
  readonly created_at: string;
  readonly lifecycle: "active";
  readonly capabilities: null;
  readonly line: null;
  readonly max_input_tokens: null;
  readonly max_tokens: null;
  readonly deprecated_at: null;
  readonly retires_at: null;
};

function toAnthropicModel(id: string): AnthropicModel {
  return {
    ...{ id, type: "model", display_name: id, created_at: "1970-01-01T00:00:00Z", lifecycle: "active" },
    ...{ capabilities: null, line: null, max_input_tokens: null, max_tokens: null },
    ...{ deprecated_at: null, retires_at: null },
  };
}

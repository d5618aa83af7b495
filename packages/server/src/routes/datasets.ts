import type { Json } from "capstan";
import {
  type EvalCase,
  listDatasets,
  loadCases,
  loadDataset,
  parseCases,
  removeCase,
  removeDataset,
  saveCases,
  saveDataset,
  saveRunCase,
} from "capstan/evals";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";

const name = z.string().min(1).max(80);
const caseId = z.string().min(1).max(120);
const params = z.strictObject({ name });
const caseParams = z.strictObject({ name, caseId });

/** Checked in depth by `readCase`. */
const caseFields = {
  input: json.describe("A text, or a list of parts, entries or chat messages."),
  context: json.optional(),
  expected: json.optional().describe("The expected answer: a text, a list of texts, or a value."),
  calls: z.array(json).optional().describe("The expected calls: names, or objects with a name and an input."),
  forbidden: z.array(z.string()).optional(),
  notes: z.string().optional(),
  tags: z.array(z.string()).optional(),
  source: z
    .strictObject({ runId: z.string(), sessionId: z.string(), agent: z.string().optional() })
    .optional(),
};

export const evalCase: z.ZodType = z.strictObject({ id: caseId, ...caseFields });

const dataset: z.ZodType = z.object({
  name: z.string(),
  description: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** Datasets contain what users have said, so only admins see them. */
export const datasetRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/datasets",
    summary: "List the datasets.",
    access: "admin",
    responses: { 200: { description: "By name.", schema: z.object({ datasets: z.array(dataset) }) } },
    handle: async (_, { store }) => Response.json({ datasets: await listDatasets(store) }),
  }),
  defineRoute({
    method: "GET",
    path: "/api/datasets/{name}",
    summary: "Get a dataset with its cases.",
    access: "admin",
    params,
    responses: {
      200: { description: "The dataset.", schema: z.object({ dataset, cases: z.array(evalCase) }) },
    },
    async handle({ params: { name } }, { store }) {
      return Response.json({ dataset: await loadDataset(store, name), cases: await loadCases(store, name) });
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/api/datasets/{name}",
    summary: "Create a dataset, or change its description.",
    access: "admin",
    params,
    body: z.strictObject({ description: z.string().max(2000).optional() }),
    responses: { 200: { description: "The dataset.", schema: dataset } },
    async handle({ params: { name }, body: { description } }, { store }) {
      const given = { name, ...(description !== undefined && { description }) };
      return Response.json(await saveDataset(store, given));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/datasets/{name}",
    summary: "Remove a dataset with its cases. Its experiments stay.",
    access: "admin",
    params,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { name } }, { store }) {
      await removeDataset(store, name);
      return new Response(null, { status: 204 });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/datasets/{name}/import",
    summary: "Add the cases of a CSV or JSONL file. Cases with the same id are replaced.",
    access: "admin",
    params,
    body: z.strictObject({ format: z.enum(["csv", "jsonl"]), text: z.string() }),
    maxBytes: 24 * 1024 * 1024,
    responses: { 200: { description: "The number of cases.", schema: z.object({ imported: z.int() }) } },
    async handle({ params: { name }, body: { format, text } }, { store }) {
      const cases = parseCases(text, format);
      await saveCases(store, name, cases);
      return Response.json({ imported: cases.length });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/datasets/{name}/cases",
    summary: "Save a run of the caller as a case, with the right answer if its own is wrong.",
    access: "admin",
    params,
    body: z.strictObject({
      runId: id,
      caseId: caseId.optional().describe("Default: the question of the run."),
      expected: json.optional(),
      notes: z.string().max(10_000).optional(),
      tags: z.array(z.string().max(100)).max(50).optional(),
    }),
    responses: { 201: { description: "The case.", schema: evalCase } },
    async handle({ params: { name }, body }, { store }) {
      const { runId, caseId, ...given } = body;
      const correction = Object.fromEntries(
        Object.entries({ ...given, id: caseId }).filter(([, value]) => value !== undefined),
      );
      const saved = await saveRunCase(store, name, { ...correction, runId });
      return Response.json(saved, { status: 201 });
    },
  }),
  defineRoute({
    method: "PUT",
    path: "/api/datasets/{name}/cases/{caseId}",
    summary: "Add a case, or replace it.",
    access: "admin",
    params: caseParams,
    body: z.strictObject(caseFields),
    responses: { 200: { description: "The case.", schema: evalCase } },
    async handle({ params: { name, caseId }, body }, { store }) {
      const saved = JSON.parse(JSON.stringify({ id: caseId, ...body })) as EvalCase & Json;
      await saveCases(store, name, [saved]);
      return Response.json(saved);
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/datasets/{name}/cases/{caseId}",
    summary: "Remove a case.",
    access: "admin",
    params: caseParams,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { name, caseId } }, { store }) {
      await removeCase(store, name, caseId);
      return new Response(null, { status: 204 });
    },
  }),
];

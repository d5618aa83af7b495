import {
  compareExperiments,
  type ExperimentInfo,
  listExperiments,
  loadExperiment,
  removeExperiment,
  saveReview,
} from "capstan/evals";
import { z } from "zod";
import type { ExperimentRequest } from "../experiments/experiments.ts";
import { evalCase } from "./datasets.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";

const params = z.strictObject({ experimentId: id });
const interval = z.tuple([z.number(), z.number()]);

const score = z.object({
  scorer: z.string(),
  value: z.number(),
  passed: z.boolean(),
  reason: z.string().optional(),
  details: json.optional(),
  error: z.string().optional(),
});

const result = z.looseObject({
  caseId: z.string(),
  attempt: z.int(),
  runId: z.string().describe("An ordinary run; empty if it could not start."),
  sessionId: z.string(),
  status: z.enum(["done", "limit", "failed", "cancelled", "waiting"]),
  text: z.string(),
  scores: z.array(score),
  passed: z.boolean().describe("Whether it has scores, and all of them passed."),
  cost: z.number(),
  ms: z.number(),
  turns: z.int(),
});

const summary = z.looseObject({
  scorers: z.array(
    z.looseObject({ scorer: z.string(), mean: z.number(), interval, passRate: z.number(), cases: z.int() }),
  ),
  results: z.int(),
  passed: z.int(),
  passRate: z.number(),
  cost: z.number(),
  meanMs: z.number(),
});

const info = {
  id: z.string(),
  name: z.string(),
  dataset: z.string().optional(),
  agent: z.string(),
  agentVersion: z.string().optional(),
  status: z
    .enum(["running", "done", "cancelled", "interrupted", "stopped"])
    .describe("`stopped`: at a quota."),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional().describe("Why it is stopped."),
  createdAt: z.number(),
  endedAt: z.number().optional(),
  attempts: z.int(),
  scorers: z.array(z.string()),
  summary,
};

const experimentInfo: z.ZodType = z.looseObject({ ...info, caseCount: z.int() });
const experiment: z.ZodType = z.looseObject({ ...info, cases: z.array(evalCase), results: z.array(result) });

const difference = z.object({
  scorer: z.string(),
  before: z.number(),
  after: z.number(),
  difference: z.number(),
  interval,
  verdict: z.enum(["better", "worse", "cannot tell"]),
});

const comparison: z.ZodType = z.looseObject({
  scorers: z.array(difference.extend({ cases: z.int() })),
  cases: z.array(
    z.object({
      caseId: z.string(),
      scores: z.array(difference),
      before: z.array(result),
      after: z.array(result),
    }),
  ),
  onlyBefore: z.array(z.string()),
  onlyAfter: z.array(z.string()),
});

const toolMode = z.union([
  z.enum(["real", "recorded", "simulated"]),
  z.strictObject({ simulated: json.describe("The answer of the tool.") }),
]);

/** Experiments spend money and show what users have said, so only admins see and start them. */
export const experimentRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/experiments",
    summary: "List the experiments, the newest first.",
    access: "admin",
    query: z.strictObject({ dataset: z.string().optional() }),
    responses: {
      200: { description: "Without results.", schema: z.object({ experiments: z.array(experimentInfo) }) },
    },
    async handle({ query: { dataset } }, { store }) {
      const experiments = await listExperiments(store, Date.now());
      const listed = experiments.filter((one) => dataset === undefined || one.dataset === dataset);
      return Response.json({ experiments: listed.map(toView) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/experiments",
    summary: "Run a dataset against an agent, in the background. Real tools are executed for real.",
    access: "admin",
    startsWork: true,
    body: z.strictObject({
      dataset: z.string().min(1).max(80),
      agent: z.string().min(1).max(200),
      version: z.int().min(1).optional().describe("Of a stored agent. Default: the current one."),
      scorers: z.array(json).min(1).max(20).describe("Names of built-in scorers, or objects with a type."),
      attempts: z.int().min(1).max(20).optional(),
      concurrency: z.int().min(1).max(16).optional(),
      tools: z.record(z.string(), toolMode).optional().describe("By name; `*` is any other. Default: real."),
      approvals: z.enum(["simulated", "all", "none"]).optional(),
    }),
    responses: { 202: { description: "The experiment, which is running.", schema: experimentInfo } },
    async handle({ body, caller }, { experiments }) {
      // Scorers are checked when they are created.
      const started = await experiments.start(body as unknown as ExperimentRequest, caller);
      return Response.json(toView(started), { status: 202 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/experiments/{experimentId}",
    summary: "Get an experiment with its cases and results so far.",
    access: "admin",
    params,
    responses: { 200: { description: "The experiment.", schema: experiment } },
    async handle({ params: { experimentId } }, { store }) {
      return Response.json(await loadExperiment(store, experimentId, Date.now()));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/experiments/{experimentId}",
    summary: "Remove an experiment. Its runs stay.",
    access: "admin",
    params,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { experimentId } }, { store }) {
      await removeExperiment(store, experimentId);
      return new Response(null, { status: 204 });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/experiments/{experimentId}/cancel",
    summary: "End an experiment of this process. It keeps the results so far.",
    access: "admin",
    params,
    responses: { 204: { description: "Cancelled." } },
    async handle({ params: { experimentId } }, { experiments }) {
      await experiments.cancel(experimentId);
      return new Response(null, { status: 204 });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/experiments/{experimentId}/resume",
    summary:
      "Continue an interrupted, stopped or cancelled experiment. Attempts with a result are not repeated.",
    access: "admin",
    startsWork: true,
    params,
    responses: { 202: { description: "The experiment, which is running.", schema: experimentInfo } },
    async handle({ params: { experimentId }, caller }, { experiments }) {
      return Response.json(toView(await experiments.resume(experimentId, caller)), { status: 202 });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/experiments/{experimentId}/reviews",
    summary: "Say whether a result is good, which shows how far the scorers can be trusted.",
    access: "admin",
    params,
    body: z.strictObject({
      caseId: z.string().min(1).max(120),
      attempt: z.int().min(1),
      passed: z.boolean().optional().describe("If omitted, the review is removed."),
      note: z.string().max(10_000).optional(),
    }),
    responses: { 204: { description: "Stored." } },
    async handle({ params: { experimentId }, body, caller }, { store }) {
      const { caseId, attempt, passed, note } = body;
      const by = caller.user === "" ? {} : { by: caller.user };
      const review =
        passed === undefined
          ? undefined
          : { passed, ...(note !== undefined && { note }), ...by, at: Date.now() };
      await saveReview(store, experimentId, { caseId, attempt, review });
      return new Response(null, { status: 204 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/experiments/{experimentId}/comparison/{otherId}",
    summary: "Compare an experiment with an earlier one: per scorer and per case, with a verdict.",
    access: "admin",
    params: z.strictObject({ experimentId: id, otherId: id }),
    responses: { 200: { description: "`before` is the other one.", schema: comparison } },
    async handle({ params: { experimentId, otherId } }, { store }) {
      const now = Date.now();
      const [before, after] = [
        await loadExperiment(store, otherId, now),
        await loadExperiment(store, experimentId, now),
      ];
      return Response.json(compareExperiments(before, after));
    },
  }),
];

function toView({ request: _request, ...listed }: ExperimentInfo): Omit<ExperimentInfo, "request"> {
  return listed;
}

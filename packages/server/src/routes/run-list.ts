import { AgentError, type Feedback, type RunFilter } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { exportRuns } from "../views/run-table.ts";
import { addDeliveries, listSessionRuns, listStuckRuns } from "../views/run-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { delivery, runFields } from "./run-schemas.ts";
import { id, usage } from "./schemas.ts";

const feedback = z.object({
  rating: z.enum(["up", "down"]).optional(),
  note: z.string().optional(),
  correction: z.string().optional().describe("The answer that would have been right."),
  by: z.string().optional().describe("The user who gave it."),
  at: z.number(),
});

const status = z.enum(["done", "limit", "failed", "cancelled"]);
const stopReason = z.enum(["end", "tool_calls", "length", "content_filter", "refusal", "pause", "other"]);

const summary = z.object({
  ...runFields,
  reason: z
    .object({ code: z.string(), message: z.string(), retryable: z.boolean() })
    .optional()
    .describe("Why a stuck run cannot continue."),
  agentVersion: z.string().optional(),
  status: status.optional(),
  stopReason: z.string().optional(),
  errorCode: z.string().optional(),
  endedAt: z.number().optional(),
  ms: z.number().optional().describe("From the start to the end."),
  turns: z.number().optional(),
  toolCalls: z.number().optional(),
  tools: z.array(z.string()).optional(),
  models: z.array(z.string()).optional(),
  usage: usage.optional(),
  cost: z.number().optional(),
  user: z.string().optional(),
  tags: z.array(z.string()).optional(),
  title: z.string().optional().describe("The first line of the input."),
  feedback: feedback.optional(),
  delivery: delivery.optional(),
});

const name = z.string().min(1).max(200).optional();
const number = z.coerce.number().optional();

const filterFields = {
  agent: name,
  version: name.describe("The version of the agent."),
  status: status.optional(),
  stopReason: stopReason.optional(),
  error: name.describe("An error code."),
  model: name,
  tool: name,
  tag: name,
  user: z
    .string()
    .max(200)
    .optional()
    .describe(
      "Only for admins: the runs of another user, or `*` for the runs of all users. Default: your own.",
    ),
  feedback: z.enum(["up", "down", "none"]).optional(),
  from: number.describe("Started at this time or later, in milliseconds since the epoch."),
  to: number.describe("Started before this time."),
  minCost: number,
  minMs: number,
  q: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Words of messages and tool results, or their beginnings."),
} as const;

const state = z.enum(["active", "waiting", "ended"]);
const maxItems = z.coerce.number().int().min(1).max(1_000);

const totals = { runs: z.number(), failed: z.number(), cost: z.number(), tokens: z.number() } as const;
const durations = { p50Ms: z.number().optional(), p95Ms: z.number().optional() } as const;
const namedTotals = z.array(z.object({ name: z.string(), ...totals }));

const dayMs = 86_400_000;

/** As `user`: the runs of everyone. */
const allUsers = "*";

/** Returns the filter with the scope that the caller may see. Throws `forbidden` for another user. */
function restrictFilter<Filter extends { readonly user?: string | undefined }>(
  { user, ...filter }: Filter,
  caller: Caller,
): Omit<Filter, "user"> & Pick<RunFilter, "scope"> {
  if (!caller.isAdmin && user !== undefined && user !== caller.scope)
    throw new AgentError("forbidden", "Only an admin can list the runs of another user.");
  return { ...filter, scope: user === allUsers ? undefined : (user ?? caller.scope) };
}

function findFormat(format: "csv" | "json" | undefined, { headers }: Request): "csv" | "json" | undefined {
  const [accepted] = (headers.get("accept") ?? "").split(/[,;]/);
  return format ?? (accepted?.trim().toLowerCase() === "text/csv" ? "csv" : undefined);
}

/** The runs of all sessions, and feedback on them. */
export const runListRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs",
    summary:
      "List runs with their summaries; of one session, also queued runs. With `Accept: text/csv` or `format`, export all matches.",
    query: z.strictObject({
      ...filterFields,
      sessionId: id.optional().describe("Other filters do not apply."),
      state: z
        .enum([...state.options, "stuck"])
        .optional()
        .describe(
          "`stuck`: only runs that cannot continue, because their agent, tool or model is gone, or their facts are newer.",
        ),
      sort: z.enum(["startedAt", "cost", "ms", "tokens", "turns"]).optional(),
      order: z.enum(["asc", "desc"]).optional(),
      limit: maxItems.optional().describe("Default: 50."),
      most: maxItems.optional().describe("An earlier name of `limit`. Default: 100."),
      cursor: z.string().max(200).optional().describe("`next` of the previous page."),
      format: z.enum(["csv", "json"]).optional(),
    }),
    responses: {
      200: {
        description: "Newest first, unless `sort` says otherwise. `next` is the cursor of the next page.",
        schema: z.object({ runs: z.array(summary), next: z.string().optional() }),
        type: "application/json, text/csv",
      },
    },
    async handle({ query, caller, request }, { store, engine }) {
      const { sessionId, most, state, format, limit = most, ...filter } = query;
      const listed = { sessionId, scope: caller.scope, limit: limit ?? 100 };
      if (state === "stuck") return Response.json({ runs: await listStuckRuns(engine, listed) });
      if (sessionId !== undefined)
        return Response.json({ runs: await listSessionRuns(store, { ...listed, sessionId }) });
      const restricted = { ...restrictFilter(filter, caller), state };
      const exported = findFormat(format, request);
      if (exported) return exportRuns(store, restricted, exported);
      const page = await store.queryRuns({ ...restricted, limit });
      return Response.json({ ...page, runs: await addDeliveries(store, page.runs) });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/stats",
    summary: "Add up runs by time, agent, model and tool.",
    query: z.strictObject({
      ...filterFields,
      state: state.optional(),
      bucket: z.coerce
        .number()
        .min(1)
        .default(dayMs)
        .describe("The length of the periods in milliseconds. Default: a day."),
    }),
    responses: {
      200: {
        description:
          "The most expensive agents, models and tools are first. A run counts for each of its tools.",
        schema: z.object({
          total: z.object({ ...totals, ...durations }),
          buckets: z.array(z.object({ at: z.number(), ...totals, ...durations })),
          agents: namedTotals,
          models: namedTotals,
          tools: namedTotals,
        }),
      },
    },
    handle: async ({ query: { bucket, ...filter }, caller }, { store }) =>
      Response.json(await store.summarizeRuns({ ...restrictFilter(filter, caller), bucketMs: bucket })),
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/feedback",
    summary: "Replace the feedback on a run. An empty body removes it.",
    params: z.strictObject({ runId: id }),
    body: z
      .strictObject({
        rating: z.enum(["up", "down"]).optional(),
        note: z.string().max(10_000).optional(),
        correction: z.string().max(100_000).optional(),
      })
      .default({}),
    responses: {
      200: { description: "The stored feedback.", schema: z.object({ feedback: feedback.optional() }) },
    },
    async handle({ params: { runId }, body: { rating, note, correction }, caller }, { store }) {
      const given = {
        ...(rating && { rating }),
        ...(note && { note }),
        ...(correction && { correction }),
      };
      const by = caller.user === "" ? {} : { by: caller.user };
      const isEmpty = Object.keys(given).length === 0;
      const stored: Feedback | undefined = isEmpty ? undefined : { ...given, ...by, at: Date.now() };
      await store.putFeedback(runId, stored);
      return Response.json({ feedback: stored });
    },
  }),
];

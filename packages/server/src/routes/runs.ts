import type { RunInfo } from "capstan";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { listedRuns, runView } from "../views/run-view.ts";
import { startRun } from "../runs/start-run.ts";
import { content, id, json, most, usage } from "./schemas.ts";

const runFields = {
  runId: id,
  sessionId: id,
  agent: z.string(),
  state: z.enum(["active", "waiting", "ended"]).describe("`active`: it has work to do."),
  startedAt: z.number(),
  updatedAt: z.number(),
} as const;

const runInfo: z.ZodType<RunInfo> = z.object(runFields);

const pendingCall = z.looseObject({
  callId: z.string(),
  name: z.string(),
  input: json,
  shown: z.string(),
  needs: z.enum(["approval", "answer"]),
  reason: z.string(),
  digest: z.string().optional(),
});

const result = z.looseObject({
  status: z.enum(["done", "limit", "failed", "cancelled", "waiting"]),
  text: z.string(),
  turns: z.number(),
  toolCalls: z.array(z.looseObject({})),
  usage,
  cost: z.number(),
  runId: id,
  sessionId: id,
});

const started = z.object({ runId: id, sessionId: id });

/** Starting runs and looking at them. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs",
    summary: "Start a run. With an `Idempotency-Key` the same request starts it once.",
    body: z.strictObject({
      input: content,
      agent: z.string().min(1).max(200).optional(),
      model: z.string().min(1).max(200).optional(),
      sessionId: id.optional(),
      policy: z.record(z.string(), json).optional(),
      timeZone: z
        .string()
        .max(100)
        .optional()
        .describe("Of the person, such as `Europe/Oslo`. One that is not known here is passed over."),
    }),
    beginsWork: true,
    answers: {
      201: { description: "It has begun, and will end whether or not anybody listens.", schema: started },
      200: { description: "The same request has started it before.", schema: started },
    },
    async handle({ body, caller, key }, deployment) {
      const { runId, sessionId, isNew } = await startRun(deployment, caller, { ...body, key });
      return Response.json(
        { runId, sessionId },
        { status: isNew ? 201 : 200, headers: { location: `/api/runs/${encodeURIComponent(runId)}` } },
      );
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs",
    summary: "The runs of a session, or of the newest sessions.",
    query: z.strictObject({ sessionId: id.optional(), most }),
    answers: { 200: { description: "The newest first.", schema: z.object({ runs: z.array(runInfo) }) } },
    handle: async ({ query, caller }, { store }) =>
      Response.json({ runs: await listedRuns(store, { ...query, scope: caller.scope }) }),
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}",
    summary: "A run: what it is doing, what it waits for, or its result.",
    params: z.strictObject({ runId: id }),
    answers: {
      200: {
        description: "With its `result` when it has ended or waits.",
        schema: z.object({ ...runFields, pending: z.array(pendingCall), result: result.optional() }),
      },
    },
    handle: async ({ params: { runId } }, deployment) => Response.json(await runView(deployment, runId)),
  }),
];

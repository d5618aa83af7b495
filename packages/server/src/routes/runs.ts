import { AgentError, type Json, type RunInfo } from "capstan";
import { difference, isInRun } from "capstan/sessions";
import { z } from "zod";
import { readEvents } from "../runs/read-events.ts";
import { rerunRun } from "../runs/rerun.ts";
import { tellRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import { listedRuns, runView } from "../views/run-view.ts";
import { defineRoute, type Route } from "./route.ts";
import { after, content, factPage, id, json, most, stream, usage } from "./schemas.ts";

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

/** The events of a run, from a position on. */
export const runEventRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/events",
    summary:
      "The events of a run: stored ones behind `Last-Event-ID` (or `after`), then live, until it ends. With `Accept: application/json` the stored facts.",
    params: z.strictObject({ runId: id }),
    query: z.strictObject({ after, stream }),
    answers: {
      200: {
        description: "`id` is the position of a fact; deltas have none.",
        type: "text/event-stream",
        schema: factPage,
      },
    },
    async handle({ params: { runId }, query, caller, request, lastEventId }, deployment) {
      const sessionId = (await deployment.store.findSession(runId)) ?? "";
      const place = { runId, sessionId, after: lastEventId ?? query.after };
      return readEvents({ request, caller, stream: query.stream, ...place }, deployment);
    },
  }),
];

const params = z.strictObject({ runId: id });
const call = z.strictObject({ runId: id, callId: id });
const accepted = {
  202: { description: "It is stored, and the run will hear it.", schema: z.strictObject({}) },
};
const done = (): Response => Response.json({}, { status: 202 });

/** What a run can be told while it is on. The same `Idempotency-Key` counts once. */
export const runAnswerRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/cancel",
    summary: "Stop a run, wherever it is at work. What has been said is kept.",
    params,
    body: z.strictObject({ reason: z.string().min(1).max(1000).optional() }).default({}),
    answers: accepted,
    async handle({ params: { runId }, body: { reason }, caller, key }, deployment) {
      const cancel = { type: "cancel", ...(reason !== undefined && { reason }) } as const;
      await tellRun(deployment, { caller, runId, key }, cancel);
      return done();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/steer",
    summary: "Say something to a run before its next turn.",
    params,
    body: z.strictObject({ text: z.string().min(1).max(100_000) }),
    answers: accepted,
    async handle({ params: { runId }, body: { text }, caller, key }, deployment) {
      await tellRun(deployment, { caller, runId, key }, { type: "steer", text });
      return done();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/approvals/{callId}",
    summary: "Allow or refuse a call that waits for it, or answer the question of a tool with a `value`.",
    params: call,
    body: z.strictObject({
      approved: z.boolean(),
      digest: z.string().max(200).optional().describe("What the person was shown: another one is refused."),
      value: json.optional(),
      reason: z.string().max(10_000).optional(),
    }),
    answers: accepted,
    async handle({ params: { runId, callId }, body, caller, key }, deployment) {
      const { approved, value, reason, digest } = body;
      const asked = (await deployment.engine.getResult(runId)).pending.find((one) => one.callId === callId);
      if (asked && digest !== undefined && digest !== asked.digest) throw mismatch(callId);
      await tellRun(
        deployment,
        { caller, runId, key },
        approved
          ? { type: "approve", callId, ...(value !== undefined && { value: value as Json }) }
          : { type: "deny", callId, ...(reason !== undefined && { reason }) },
      );
      return done();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/results/{callId}",
    summary: "Give the result of a call that the client runs.",
    params: call,
    body: z.strictObject({ value: json }),
    answers: accepted,
    async handle({ params: { runId, callId }, body, caller, key }, deployment) {
      const result = { type: "result", callId, value: body.value as Json } as const;
      await tellRun(deployment, { caller, runId, key }, result);
      return done();
    },
  }),
];

function mismatch(callId: string): AgentError {
  const message = `What you were shown of the call "${callId}" is not what it asks for: look at it again.`;
  return new AgentError("approval_mismatch", message);
}

const lines = z.array(z.looseObject({}));
const pair = z.object({ left: json, right: json });

const comparison = z.object({
  isSame: z.boolean().describe("Same question, turns, answer and status; what they took may differ."),
  question: lines.optional(),
  turns: z.array(
    z.object({
      turn: z.int(),
      type: z.enum(["same", "changed", "left", "right"]),
      text: lines.optional(),
      calls: z.array(z.looseObject({ type: z.string(), name: z.string() })),
    }),
  ),
  answer: lines.optional(),
  status: pair,
  models: pair,
  inputTokens: pair,
  outputTokens: pair,
  cost: pair,
  ms: pair,
});

/** Running again, and looking at what came out otherwise. */
export const runAgainRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/rerun",
    summary:
      "Run again what a run was asked, in a fork of its session, under another policy if one is given.",
    params: z.strictObject({ runId: id }),
    body: z.strictObject({ policy: z.record(z.string(), json).optional() }).default({}),
    beginsWork: true,
    answers: {
      201: { description: "It has begun, in a session of its own.", schema: started },
      200: { description: "The same request has started it before.", schema: started },
    },
    async handle({ params: { runId }, body: { policy }, caller, key }, deployment) {
      const { isNew, ...made } = await rerunRun(deployment, caller, { runId, policy, key });
      return Response.json(
        { runId: made.runId, sessionId: made.sessionId },
        { status: isNew ? 201 : 200, headers: { location: `/api/runs/${encodeURIComponent(made.runId)}` } },
      );
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/difference/{otherRunId}",
    summary: "How two runs differ, turn by turn: the first is `left`, the other `right`.",
    params: z.strictObject({ runId: id, otherRunId: id }),
    answers: { 200: { description: "What is the same in both is left out.", schema: comparison } },
    async handle({ params: { runId, otherRunId } }, { store }) {
      const factsOf = async (wanted: string) =>
        (await store.read((await store.findSession(wanted)) ?? "")).filter((fact) => isInRun(fact, wanted));
      return Response.json(difference(await factsOf(runId), await factsOf(otherRunId)));
    },
  }),
];

import type { Json } from "capstan";
import { difference, findQueuedRun, loadRunFacts } from "capstan/sessions";
import { z } from "zod";
import { readEvents } from "../runs/read-events.ts";
import { rerunRun } from "../runs/rerun.ts";
import { sendToRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import { loadRunView } from "../views/run-view.ts";
import { decisionBody, toDecisionMessage } from "./decision-body.ts";
import { callPreview, pendingCall } from "./pending-call-schema.ts";
import { defineRoute, type Route } from "./route.ts";
import { delivery, runFields } from "./run-schemas.ts";
import { after, content, factPage, id, json, stream, usage, view } from "./schemas.ts";
import { settings } from "./settings-schema.ts";

const result = z.looseObject({
  status: z.enum(["done", "limit", "failed", "cancelled", "waiting"]),
  text: z.string(),
  stopReason: z.string().optional().describe("Why the model stopped; only `end` is a complete answer."),
  turns: z.number(),
  toolCalls: z.array(z.looseObject({})),
  usage,
  cost: z.number(),
  until: z.number().optional().describe("When a run that waits for its model provider continues."),
  canRetry: z.literal(true).optional().describe("`POST …/retry` continues the run."),
  runId: id,
  sessionId: id,
});

const started = z.object({ runId: id, sessionId: id });

export const runRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs",
    summary: "Start a run. Repeating the request with the same `Idempotency-Key` returns the same run.",
    body: z.strictObject({
      input: content,
      provenance: z
        .literal("application")
        .optional()
        .describe("Set if the user did not write the input: it then names no target."),
      agent: z.string().min(1).max(200).optional(),
      model: z.string().min(1).max(200).optional(),
      sessionId: id.optional(),
      policy: z.record(z.string(), json).optional(),
      settings: settings.optional(),
      timeZone: z
        .string()
        .max(100)
        .optional()
        .describe("The user's time zone, such as `Europe/Oslo`. Ignored if unknown."),
      tags: z
        .array(z.string().min(1).max(100))
        .max(20)
        .optional()
        .describe("Words by which the run can be found in lists."),
    }),
    startsWork: true,
    responses: {
      201: { description: "The run has started. It continues without a reader.", schema: started },
      200: { description: "The same request has already started this run.", schema: started },
      202: {
        description:
          "The session is busy, or the request has `Prefer: respond-async`. The message is stored, and the run starts when its turn comes and a process has capacity; with the policy `steer`, `runId` is the unfinished run that gets the message.",
        schema: started,
      },
    },
    async handle({ body, caller, key, canWait }, deployment) {
      const started = await startRun(deployment, caller, { ...body, key, canWait });
      const { runId, sessionId, isNew, state } = started;
      const headers = {
        ...{ location: `/api/runs/${encodeURIComponent(runId)}`, "x-run-id": runId },
        ...(canWait && { "preference-applied": "respond-async" }),
      };
      const status = canWait || state !== "started" ? 202 : isNew ? 201 : 200;
      return Response.json({ runId, sessionId }, { status, headers });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}",
    summary: "Get a run: its state, pending calls, or result.",
    params: z.strictObject({ runId: id }),
    responses: {
      200: {
        description: "Contains `result` if the run has ended or waits.",
        schema: z.object({
          ...{ ...runFields, pending: z.array(pendingCall), result: result.optional() },
          delivery: delivery.optional(),
        }),
      },
    },
    handle: async ({ params: { runId } }, deployment) => Response.json(await loadRunView(deployment, runId)),
  }),
];

export const runEventRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/events",
    summary:
      "Stream the events of a run: stored events after `Last-Event-ID` (or `after`), then live ones, until it ends. With `Accept: application/json`, the stored facts. With `events`, a view of them.",
    params: z.strictObject({ runId: id }),
    query: z.strictObject({ after, stream, events: view }),
    responses: {
      200: {
        description: "`id` is the position of a fact; deltas have none. Every event of a view has an id.",
        type: "text/event-stream",
        schema: factPage,
      },
    },
    async handle({ params: { runId }, query, caller, request, lastEventId }, deployment) {
      const { store } = deployment;
      const queued = () => findQueuedRun(store, runId);
      const sessionId = (await store.findSession(runId)) ?? (await queued())?.sessionId ?? "";
      const place = { runId, sessionId, after: lastEventId ?? query.after };
      return readEvents({ request, caller, stream: query.stream, view: query.events, ...place }, deployment);
    },
  }),
];

const params = z.strictObject({ runId: id });
const call = z.strictObject({ runId: id, callId: id });
const accepted = {
  202: { description: "The message is stored for the run.", schema: z.strictObject({}) },
};
const respondAccepted = (): Response => Response.json({}, { status: 202 });

/** Messages to a run. Repeating a request with the same `Idempotency-Key` has no further effect. */
export const runAnswerRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/cancel",
    summary: "Cancel a run in any process. Its history is kept.",
    params,
    body: z.strictObject({ reason: z.string().min(1).max(1000).optional() }).default({}),
    responses: accepted,
    async handle({ params: { runId }, body: { reason }, caller, key }, deployment) {
      const cancel = { type: "cancel", ...(reason !== undefined && { reason }) } as const;
      await sendToRun(deployment, { caller, runId, key }, cancel);
      return respondAccepted();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/background/{callId}/cancel",
    summary: "Cancel the background run that a call has started. The run itself continues.",
    params: call,
    body: z.strictObject({ reason: z.string().min(1).max(1000).optional() }).default({}),
    responses: accepted,
    async handle({ params: { runId, callId }, body: { reason }, caller, key }, deployment) {
      const cancel = {
        type: "cancel_background",
        call: callId,
        ...(reason !== undefined && { reason }),
      } as const;
      await sendToRun(deployment, { caller, runId, key }, cancel);
      return respondAccepted();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/steer",
    summary: "Send a steering message, delivered before the next turn.",
    params,
    body: z.strictObject({ text: z.string().min(1).max(100_000) }),
    responses: accepted,
    async handle({ params: { runId }, body: { text }, caller, key }, deployment) {
      await sendToRun(deployment, { caller, runId, key }, { type: "steer", text });
      return respondAccepted();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/retry",
    summary:
      "Continue a run that failed because of its model, from the call that failed, or release a quarantined one. A run that waits for its provider calls the model now. Finished calls are not repeated.",
    params,
    body: z.strictObject({}).default({}),
    startsWork: true,
    responses: accepted,
    async handle({ params: { runId }, caller, key }, deployment) {
      await sendToRun(deployment, { caller, runId, key }, { type: "retry" });
      return respondAccepted();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/approvals/{callId}",
    summary: "Approve or deny a pending call, or answer a tool's question with `value`.",
    params: call,
    body: decisionBody,
    responses: accepted,
    async handle({ params: { runId, callId }, body, caller, key }, deployment) {
      const always = body.approved ? body.always : undefined;
      const target = { caller, runId, key, digest: body.digest, always };
      await sendToRun(deployment, target, toDecisionMessage(callId, body));
      return respondAccepted();
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/approvals/{callId}/preview",
    summary:
      "Check a pending call with other arguments, before an approval with `input`. Nothing is stored, and the call keeps waiting.",
    params: call,
    body: z
      .strictObject({ input: json.optional().describe("Default: the arguments of the model.") })
      .default({}),
    responses: {
      200: {
        description: "The reason, the warnings and the preview of the changed call, and its schema.",
        schema: callPreview,
      },
    },
    async handle({ params: { runId, callId }, body, caller: { scope } }, { engine, store, getRunOptions }) {
      const sessionId = (await store.findSession(runId)) ?? "";
      const { context, secrets = [] } = await getRunOptions({ scope, sessionId });
      const input = body.input as Json | undefined;
      const edit = { context, secrets, ...(input !== undefined && { input }) };
      return Response.json(await engine.previewCall(runId, callId, edit));
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/results/{callId}",
    summary: "Return the result of a client-side call.",
    params: call,
    body: z.strictObject({ value: json }),
    responses: accepted,
    async handle({ params: { runId, callId }, body, caller, key }, deployment) {
      const result = { type: "result", callId, value: body.value as Json } as const;
      await sendToRun(deployment, { caller, runId, key }, result);
      return respondAccepted();
    },
  }),
];

const lines = z.array(z.looseObject({}));
const pair = z.object({ left: json, right: json });

const comparison = z.object({
  isSame: z.boolean().describe("Same question, turns, answer and status; usage and timing may differ."),
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

export const runAgainRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/rerun",
    summary:
      "Run the input of a run again, in a fork of its session, optionally with another policy or settings.",
    params: z.strictObject({ runId: id }),
    body: z
      .strictObject({ policy: z.record(z.string(), json).optional(), settings: settings.optional() })
      .default({}),
    startsWork: true,
    responses: {
      201: { description: "The run has started in its own session.", schema: started },
      200: { description: "The same request has already started this run.", schema: started },
    },
    async handle({ params: { runId }, body, caller, key }, deployment) {
      const { isNew, ...made } = await rerunRun(deployment, caller, { ...body, runId, key });
      return Response.json(
        { runId: made.runId, sessionId: made.sessionId },
        { status: isNew ? 201 : 200, headers: { location: `/api/runs/${encodeURIComponent(made.runId)}` } },
      );
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/difference/{otherRunId}",
    summary: "Compare two runs turn by turn: the first is `left`, the other `right`.",
    params: z.strictObject({ runId: id, otherRunId: id }),
    responses: { 200: { description: "Differences only.", schema: comparison } },
    async handle({ params: { runId, otherRunId } }, { store }) {
      return Response.json(
        difference(await loadRunFacts(store, runId), await loadRunFacts(store, otherRunId)),
      );
    },
  }),
];

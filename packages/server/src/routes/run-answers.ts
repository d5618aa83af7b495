import { AgentError, type Json } from "capstan";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { tellRun } from "../runs/send-to-run.ts";
import { id, json } from "./schemas.ts";

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

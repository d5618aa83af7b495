import { difference, isInRun } from "capstan/sessions";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { rerunRun } from "../runs/rerun.ts";
import { id, json } from "./schemas.ts";

const started = z.object({ runId: id, sessionId: id });
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

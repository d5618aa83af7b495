import { AgentError, type ErrorCode, isModelError, type ToolSpec } from "capstan";
import type { TurnChanges } from "capstan/engines/local";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { createProblemResponse } from "../http/problem.ts";
import { toClientError } from "../protocols/client-error.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, json } from "./schemas.ts";
import { settings } from "./settings-schema.ts";

const params = z.strictObject({ runId: id, turn: z.coerce.number().int().min(0).max(1_000_000) });
const usage = z.looseObject({ inputTokens: z.number(), outputTokens: z.number() });
const maxTextLength = 1_000_000;

const request = z.object({
  number: z.int().describe("Position among the requests of the session."),
  runId: z.string(),
  turn: z.int(),
  agent: z.string(),
  purpose: z.enum(["answer", "summary", "turn_summary"]).describe("What the model was called for."),
  at: z.number(),
  model: z.string(),
  url: z.string().describe("Empty for a model that is not called over HTTP, and without an admin key."),
  method: z.string(),
  headers: z.record(z.string(), z.string()).describe("Empty without an admin key."),
  body: z.string().describe("The exact text, with secrets masked. Empty without an admin key."),
});

const changes = z.strictObject({
  instructions: z.string().max(maxTextLength).optional().describe("Requires an admin key."),
  history: z
    .array(z.looseObject({ type: z.string() }))
    .max(10_000)
    .optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(128),
        description: z.string().max(maxTextLength),
        input: z.record(z.string(), json),
      }),
    )
    .max(1000)
    .optional()
    .describe("Requires an admin key. No tool runs."),
  settings: settings.optional(),
  model: z.string().min(1).max(200).optional(),
});

export const requestRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/requests/{turn}",
    summary: "The model requests of a turn exactly as they were sent, in order.",
    params,
    query: z.strictObject({
      callId: id.optional().describe("Selects the turn of the nested run that answers this call."),
    }),
    responses: {
      200: {
        description: "Attempts that failed, summaries and the answer. The model is not called.",
        schema: z.object({ requests: z.array(request) }),
      },
    },
    async handle({ params: { runId, turn }, query: { callId } }, deployment) {
      return Response.json({ requests: await deployment.loadRequests({ runId, turn, callId }) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/runs/{runId}/requests/{turn}/try",
    summary:
      "Send the request of a turn again with changes: one model call. No tool runs, nothing is stored.",
    params,
    body: changes.default({}),
    startsWork: true,
    responses: {
      200: {
        description: "The answer.",
        schema: z.object({
          text: z.string(),
          reasoning: z.string().optional(),
          calls: z.array(z.object({ name: z.string(), input: json })),
          usage,
          cost: z.number().describe("US dollars; 0 if the price is unknown."),
          ms: z.number(),
          stopReason: z.string(),
          model: z.string(),
          body: z.string().describe("The request as it was sent. Empty without an admin key."),
        }),
      },
    },
    async handle({ params: { runId, turn }, body, caller, request: { signal } }, deployment) {
      try {
        return Response.json(await tryRequest(deployment, caller, { runId, turn, signal, ...body }));
      } catch (thrown) {
        if (!(thrown instanceof AgentError) || !isModelError(thrown.code)) throw thrown;
        const { code, message } = toClientError(thrown, caller, runId);
        return createProblemResponse(new AgentError(code as ErrorCode, message));
      }
    },
  }),
];

type TriedRequest = z.infer<typeof changes> & {
  readonly runId: string;
  readonly turn: number;
  readonly signal: AbortSignal;
};

/** Calls the model within the caller's quotas, and counts what it used as the usage of a run. */
async function tryRequest(deployment: Deployment, caller: Caller, tried: TriedRequest): Promise<object> {
  const { engine, store, activeRuns, quotaAdmission, shutdownSignal } = deployment;
  const { runId, turn } = tried;
  const sessionId = (await store.findSession(runId)) ?? "";
  const asked = await readChanges(deployment, caller, tried);
  const id = `try_${crypto.randomUUID()}`;
  const place = activeRuns.reserve(caller, `${caller.scope}~${id}`);
  const run = { runId: id, policy: deployment.policy ?? {}, isEphemeral: true };
  const admitted = await quotaAdmission.admit(caller, run).catch((thrown) => {
    place.release();
    throw thrown;
  });
  try {
    const options = await deployment.getRunOptions({ scope: caller.scope, sessionId });
    const signal = AbortSignal.any([tried.signal, shutdownSignal]);
    const answer = await engine.tryTurn(runId, turn, { ...options, signal, changes: asked });
    const { usage: used, cost } = answer;
    quotaAdmission.record({
      type: "done",
      ...{ status: "done", text: "", grounded: false, usage: used, cost },
      ...{ runId: id, sessionId: `${caller.scope}~${id}`, agent: "", turn, id, seq: 1, at: 0 },
    });
    return caller.isAdmin ? answer : { ...answer, body: "" };
  } catch (thrown) {
    admitted.release();
    throw thrown;
  } finally {
    place.release();
  }
}

/** Throws `forbidden` for a change that would let a user use the model as another agent. */
async function readChanges(
  deployment: Deployment,
  caller: Caller,
  { runId, instructions, history, tools, settings: given, model }: TriedRequest,
): Promise<TurnChanges> {
  if (!caller.isAdmin && (instructions !== undefined || tools !== undefined))
    throw new AgentError("forbidden", "Changing instructions or tools requires an admin key.");
  const { agent: name = "" } = (await deployment.store.findRun(runId)) ?? {};
  const [base = ""] = name.split("@");
  const agent = await deployment.resolveAgent(base, model);
  return {
    ...(instructions !== undefined && { instructions }),
    ...(history && { history: history as never }),
    ...(tools && { tools: tools as readonly ToolSpec[] }),
    ...(given !== undefined && readRequestSettings({ settings: given }, caller, { agent, ...deployment })),
    ...(model !== undefined && { model: agent.models.main[0] }),
  };
}

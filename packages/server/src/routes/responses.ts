import { AgentError, type Event } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings, toRunOptions } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { formatSseEvent } from "../protocols/chat/chat-events.ts";
import { createClientAgent } from "../protocols/client-agent.ts";
import { toAgentError, toClientError } from "../protocols/client-error.ts";
import { getFailureStatus, toOpenaiError } from "../protocols/openai-error.ts";
import { answerSegment, findWaitingSegment } from "../protocols/responses/answer-response.ts";
import { parseFunctionCallId, parseResponseId, type RunSegment } from "../protocols/responses/ids.ts";
import { getAnswers, getOutputText, getTrailingAnswers } from "../protocols/responses/input-items.ts";
import { type ResponsesRequest, responsesRequest } from "../protocols/responses/request.ts";
import { createResponseEncoder, type ResponseEncoder } from "../protocols/responses/response-encoder.ts";
import { type FollowedSegment, followSegment, loadResponse } from "../protocols/responses/segments.ts";
import {
  type CreateResponse,
  findPreviousSegment,
  getAgentOverrides,
  readInputItems,
  startSegment,
} from "../protocols/responses/start-response.ts";
import { resolveModelId } from "../runs/agent-resolver.ts";
import type { ClientResults } from "../runs/ephemeral-runs.ts";
import { sendToRun } from "../runs/send-to-run.ts";
import { stopRun } from "../runs/stop-run.ts";
import { defineRoute, type Route } from "./route.ts";

const responseView = z.looseObject({ id: z.string(), object: z.literal("response"), status: z.string() });

/** A response id identifies a segment of a run. Ownership of the run is checked by `dispatch`. */
const params: z.ZodType<RunSegment> = z
  .strictObject({ runId: z.string().min(1).max(300) })
  .transform(({ runId }) => parseResponseId(runId));

/** OpenAI's Responses API: the server keeps the history. */
export const responseRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/responses",
    summary: "Create a response with an agent. The server keeps the history unless `store` is false.",
    body: responsesRequest,
    startsWork: true,
    responses: {
      200: { description: "The response, or its events as `text/event-stream`.", schema: responseView },
    },
    async handle({ body, caller, request, key }, deployment) {
      const onClose = body.isStreamed ? deployment.quota.acquire(caller, "streams") : undefined;
      try {
        const asked: CreateResponse = { body, caller, key };
        const told =
          (await createStoredResponse(asked, deployment)) ??
          (await createEphemeralResponse(asked, deployment));
        if (request.signal.aborted) told.onDisconnect();
        else request.signal.addEventListener("abort", told.onDisconnect, { once: true });
        if (onClose) return streamResponse(told, { request, onClose }, deployment);
        return await (body.isInBackground ? respondWhenStarted(told) : respondWhenDone(told));
      } catch (thrown) {
        onClose?.();
        throw thrown;
      }
    },
  }),
  defineRoute({
    method: "GET",
    path: "/v1/responses/{runId}",
    summary: "Get a response; with `stream`, its events from the start.",
    params,
    query: z.strictObject({ stream: z.enum(["true", "false"]).optional() }),
    responses: {
      200: { description: "The response, or its events as `text/event-stream`.", schema: responseView },
    },
    async handle({ params: place, query, caller, request }, deployment) {
      const { facts, ...options } = await loadResponse(deployment, caller, place);
      const projection = createResponseEncoder(options);
      if (query.stream !== "true") {
        for (const fact of facts) projection.encode(fact);
        return Response.json(projection.getResponse());
      }
      let onClose: () => void = () => undefined;
      const { events, stop } = await followSegment(deployment, options.sessionId ?? "", async () => {
        onClose = deployment.quota.acquire(caller, "streams");
        return place;
      });
      return streamResponse({ events, projection, onDisconnect: stop }, { request, onClose }, deployment);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/responses/{runId}/cancel",
    summary: "Cancel a response. A finished response is unchanged.",
    params,
    responses: { 200: { description: "The response after cancelling.", schema: responseView } },
    async handle({ params: place, caller }, deployment) {
      const { sessionId = "", facts: _, ...options } = await loadResponse(deployment, caller, place);
      const projection = createResponseEncoder({ ...options, sessionId });
      const { events, stop } = await followSegment(deployment, sessionId, async () => {
        await cancelResponseRun(deployment, caller, place.runId);
        return place;
      });
      const timer = setTimeout(stop, cancelTimeoutMs);
      for await (const event of events) {
        projection.encode(event);
        if (projection.isOver()) break;
      }
      clearTimeout(timer);
      return Response.json(projection.getResponse());
    },
  }),
];

/** Max time to wait for a cancelled response to end. */
const cancelTimeoutMs = 10_000;

async function cancelResponseRun(deployment: Deployment, caller: Caller, runId: string): Promise<void> {
  try {
    await sendToRun(deployment, { caller, runId }, { type: "cancel" });
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.code !== "run_ended") throw thrown;
  }
}

/** An encoder and the events to feed it. */
type ResponseInProgress = {
  readonly events: AsyncIterable<Event>;
  readonly projection: ResponseEncoder;
  /** Called when the client disconnects. */
  onDisconnect(): void;
};

/** Resumes a waiting run or starts a stored one; undefined if the response is not to be stored. */
async function createStoredResponse(
  asked: CreateResponse,
  deployment: Deployment,
): Promise<ResponseInProgress | undefined> {
  const { body, caller } = asked;
  const previous = await findPreviousSegment(body, deployment);
  const answers = previous ? getAnswers(body.items) : getTrailingAnswers(body.items);
  const answered = previous ?? (await findWaitingSegment(deployment, caller, answers));
  let followed: FollowedSegment;
  if (answered && answers.length > 0)
    followed = await followSegment(deployment, answered.sessionId, () =>
      answerSegment(deployment, { ...answered, caller }, answers),
    );
  else if (body.isStored) followed = await startSegment(asked, previous, deployment);
  else return undefined;
  const { facts: _, ...options } = await loadResponse(deployment, caller, followed);
  const projection = createResponseEncoder(options);
  const onDisconnect = () => {
    followed.stop();
    if (isStopped(asked, projection, deployment)) stopRun(deployment, followed).catch(deployment.report);
  };
  return { events: followed.events, projection, onDisconnect };
}

/**
 * Whether a client that disconnects stops its response: OpenAI documents that terminating the connection cancels a
 * response that is not in the background. A request with a key can be repeated, so its response continues.
 */
function isStopped(
  { body, key }: CreateResponse,
  projection: ResponseEncoder,
  { shutdownSignal }: Deployment,
): boolean {
  return !body.isInBackground && key === undefined && !projection.isOver() && !shutdownSignal.aborted;
}

/** Creates a response that is not stored and ends with the connection. */
async function createEphemeralResponse(
  { body, caller }: CreateResponse,
  deployment: Deployment,
): Promise<ResponseInProgress> {
  if (body.isInBackground)
    throw new AgentError("invalid_input", "A background response must be stored. Omit `store`.");
  const { agent, model } = await resolveModelId(body.model, deployment);
  const chosen = createClientAgent(
    await deployment.resolveAgent(agent, model),
    getAgentOverrides(body, caller),
  );
  const requested = toRunOptions(body.settings, deployment.settingsLimits);
  const settings = readRequestSettings(requested, caller, { agent: chosen, ...deployment });
  const given = getFunctionResults(body);
  const segment =
    (given && (await deployment.ephemeralRuns.resume(caller, given))) ??
    (await deployment.ephemeralRuns.start(caller, {
      agent: chosen,
      entries: [...(await loadHistory(body, deployment)), ...readInputItems(body, caller, deployment)],
      policy: { ...requested.policy, ...(body.requiresTool && { requireToolFirst: true }) },
      ...settings,
      declared: new Set(body.tools.map(({ name }) => name)),
    }));
  const projection = createResponseEncoder({
    id: `resp_${crypto.randomUUID()}`,
    place: { runId: segment.runId, segment: 1 },
    model: body.model,
    ...settings,
    functions: segment.declared,
    isFormed: chosen.output !== undefined,
    showError: (error) => toClientError(error, caller, segment.runId),
  });
  return { events: segment.events, projection, onDisconnect: segment.cancel };
}

/** Loads the preceding history, if it is stored. */
async function loadHistory({ runId, sessionId }: ResponsesRequest, { engine, store }: Deployment) {
  const last =
    runId ?? (sessionId === undefined ? undefined : (await store.listRuns(sessionId, 1)).at(-1)?.runId);
  if (last === undefined) return [];
  const { history, status } = await engine.getResult(last);
  if (status !== "waiting") return history;
  throw new AgentError("session_busy", "The previous response is not complete. Wait for it, or answer it.");
}

function getFunctionResults({ items }: ResponsesRequest): ClientResults | undefined {
  const answers = getTrailingAnswers(items);
  const results = new Map<string, string>();
  let run: string | undefined;
  for (const answer of answers) {
    const call = answer.type === "function_call_output" ? parseFunctionCallId(answer.call_id) : undefined;
    if (answer.type !== "function_call_output" || !call || (run ?? call.runId) !== call.runId)
      return undefined;
    run = call.runId;
    results.set(call.callId, getOutputText(answer));
  }
  return run === undefined ? undefined : { runId: run, results };
}

function streamResponse(
  { events, projection, onDisconnect }: ResponseInProgress,
  { request, onClose }: { readonly request: Request; onClose(): void },
  deployment: Deployment,
): Response {
  const clientSignal = request.signal;
  return streamFrames({
    frames: frames(events, projection, deployment),
    clientSignal,
    onClose,
    onDisconnect,
  });
}

async function* frames(
  events: AsyncIterable<Event>,
  projection: ResponseEncoder,
  { report }: Deployment,
): AsyncGenerator<string, void, undefined> {
  try {
    for await (const event of events) {
      for (const each of projection.encode(event)) yield formatSseEvent(each.type, each);
      if (projection.isOver()) return;
    }
    yield formatSseEvent("error", projection.fail(cutOff));
  } catch (thrown) {
    yield formatSseEvent("error", projection.fail(toAgentError(thrown, report)));
  }
}

const cutOff: AgentError = new AgentError(
  "draining",
  "The server is shutting down. A stored response continues and can be read again.",
);

async function respondWhenDone({ events, projection }: ResponseInProgress): Promise<Response> {
  for await (const event of events) {
    projection.encode(event);
    if (projection.isOver()) break;
  }
  if (!projection.isOver()) throw cutOff;
  const { error, ...response } = projection.getResponse();
  if (!error) return Response.json({ ...response, error });
  return Response.json(toOpenaiError(error), { status: getFailureStatus(error.code) });
}

/** The client polls for the result. */
async function respondWhenStarted({
  events,
  projection,
  onDisconnect,
}: ResponseInProgress): Promise<Response> {
  for await (const event of events) {
    projection.encode(event);
    break;
  }
  onDisconnect();
  return Response.json(projection.getResponse());
}

import { AgentError, type Event } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { frameStream } from "../http/frame-stream.ts";
import { formatSseEvent } from "../protocols/chat/chat-events.ts";
import { clientAgent } from "../protocols/client-agent.ts";
import { shownError, shownThrown } from "../protocols/client-error.ts";
import { clientHistory } from "../protocols/client-history.ts";
import { openaiProblem, openaiStatus } from "../protocols/openai-error.ts";
import { answerLeg, awaitingLeg } from "../protocols/responses/answer-response.ts";
import { type RunLeg, readFunctionCallId, readResponseId } from "../protocols/responses/ids.ts";
import { answersIn, lastAnswers, outputOf } from "../protocols/responses/input-items.ts";
import { type ResponsesRequest, responsesRequest } from "../protocols/responses/request.ts";
import { type ResponseEvents, responseEvents } from "../protocols/responses/response-encoder.ts";
import { type FollowedLeg, followLeg, responseOf } from "../protocols/responses/segments.ts";
import {
  messagesIn,
  previousLeg,
  type ResponseAsked,
  startedLeg,
  wishesOf,
} from "../protocols/responses/start-response.ts";
import { chosenAgent } from "../runs/agent-resolver.ts";
import type { PassingResults } from "../runs/ephemeral-runs.ts";
import { tellRun } from "../runs/send-to-run.ts";
import { defineRoute, type Route } from "./route.ts";

const responseView = z.looseObject({ id: z.string(), object: z.literal("response"), status: z.string() });

/** The id of a response stands for a leg of a run; that the run is the caller's is checked like everywhere. */
const params: z.ZodType<RunLeg> = z
  .strictObject({ runId: z.string().min(1).max(300) })
  .transform(({ runId }) => readResponseId(runId));

/** Agents as models, with the history kept here: `POST /v1/responses` and what came of it. */
export const responseRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/responses",
    summary: "Ask an agent as one asks a model of OpenAI. The history is kept here, unless `store` is false.",
    body: responsesRequest,
    beginsWork: true,
    answers: {
      200: { description: "The response, or its events as `text/event-stream`.", schema: responseView },
    },
    async handle({ body, caller, request, key }, deployment) {
      const onClose = body.isStreamed ? deployment.allowance.take(caller, "streams") : undefined;
      try {
        const asked: ResponseAsked = { body, caller, key };
        const told = (await keptResponse(asked, deployment)) ?? (await passingResponse(asked, deployment));
        if (request.signal.aborted) told.onGone();
        else request.signal.addEventListener("abort", told.onGone, { once: true });
        if (onClose) return streamed(told, onClose, deployment);
        return await (body.isInBackground ? begunOnly(told) : whole(told));
      } catch (thrown) {
        onClose?.();
        throw thrown;
      }
    },
  }),
  defineRoute({
    method: "GET",
    path: "/v1/responses/{runId}",
    summary: "A response as it stands; with `stream` its events from the first on.",
    params,
    query: z.strictObject({ stream: z.enum(["true", "false"]).optional() }),
    answers: {
      200: { description: "The response, or its events as `text/event-stream`.", schema: responseView },
    },
    async handle({ params: place, query, caller }, deployment) {
      const { facts, ...options } = await responseOf(deployment, caller, place);
      const projection = responseEvents(options);
      if (query.stream !== "true") {
        for (const fact of facts) projection.hear(fact);
        return Response.json(projection.response());
      }
      let onClose: () => void = () => undefined;
      const { events, stop } = await followLeg(deployment, options.sessionId ?? "", async () => {
        onClose = deployment.allowance.take(caller, "streams");
        return place;
      });
      return streamed({ events, projection, onGone: stop }, onClose, deployment);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/responses/{runId}/cancel",
    summary: "Stop what makes a response. One that is over stays as it is.",
    params,
    answers: { 200: { description: "The response, as it ended.", schema: responseView } },
    async handle({ params: place, caller }, deployment) {
      const { sessionId = "", facts: _, ...options } = await responseOf(deployment, caller, place);
      const projection = responseEvents({ ...options, sessionId });
      const { events, stop } = await followLeg(deployment, sessionId, async () => {
        await cancel(deployment, caller, place.runId);
        return place;
      });
      const timer = setTimeout(stop, patienceMs);
      for await (const event of events) {
        projection.hear(event);
        if (projection.isOver()) break;
      }
      clearTimeout(timer);
      return Response.json(projection.response());
    },
  }),
];

/** After so long a response that is being cancelled is shown as it stands. */
const patienceMs = 10_000;

async function cancel(deployment: Deployment, caller: Caller, runId: string): Promise<void> {
  try {
    await tellRun(deployment, { caller, runId }, { type: "cancel" });
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.code !== "run_ended") throw thrown;
  }
}

/** A response and the events that it comes about by. */
type Telling = {
  readonly events: AsyncIterable<Event>;
  readonly projection: ResponseEvents;
  /** The client has gone: a run that is kept goes on. */
  onGone(): void;
};

/** Goes on with a run that waits, or starts one that is kept; undefined for one that is not to be kept. */
async function keptResponse(asked: ResponseAsked, deployment: Deployment): Promise<Telling | undefined> {
  const { body, caller } = asked;
  const previous = await previousLeg(body, deployment);
  const answers = previous ? answersIn(body.items) : lastAnswers(body.items);
  const answered = previous ?? (await awaitingLeg(deployment, caller, answers));
  let followed: FollowedLeg;
  if (answered && answers.length > 0)
    followed = await followLeg(deployment, answered.sessionId, () =>
      answerLeg(deployment, { ...answered, caller }, answers),
    );
  else if (body.isKept) followed = await startedLeg(asked, previous, deployment);
  else return undefined;
  const { facts: _, ...options } = await responseOf(deployment, caller, followed);
  return { events: followed.events, projection: responseEvents(options), onGone: followed.stop };
}

/** A response that nobody keeps: it ends with the connection. */
async function passingResponse({ body, caller }: ResponseAsked, deployment: Deployment): Promise<Telling> {
  if (body.isInBackground)
    throw new AgentError("invalid_input", "A response in the background must be kept: leave `store` out.");
  const { agent, model } = await chosenAgent(body.model, deployment);
  const chosen = clientAgent(await deployment.agent(agent, model), wishesOf(body, caller));
  const given = resultsIn(body);
  if (given) await deployment.spending.within(caller, {});
  const leg =
    (given && deployment.passing.answer(caller, given)) ??
    (await deployment.passing.start(caller, {
      agent: chosen,
      entries: [...(await historyOf(body, deployment)), ...clientHistory(messagesIn(body, caller))],
      policy: body.demandsTool ? { requireToolFirst: true } : {},
      declared: new Set(body.tools.map(({ name }) => name)),
    }));
  const projection = responseEvents({
    id: `resp_${crypto.randomUUID()}`,
    place: { runId: leg.runId, leg: 1 },
    model: body.model,
    functions: leg.declared,
    isFormed: chosen.output !== undefined,
    showError: (error) => shownError(error, caller, leg.runId),
  });
  return { events: leg.events, projection, onGone: leg.abandon };
}

/** What was said before it, where that is kept. */
async function historyOf({ runId, sessionId }: ResponsesRequest, { engine, store }: Deployment) {
  const last =
    runId ?? (sessionId === undefined ? undefined : (await store.listRuns(sessionId)).at(-1)?.runId);
  if (last === undefined) return [];
  const { history, status } = await engine.getResult(last);
  if (status !== "waiting") return history;
  throw new AgentError(
    "session_busy",
    "The response before this one is not over: wait for it, or answer it.",
  );
}

function resultsIn({ items }: ResponsesRequest): PassingResults | undefined {
  const answers = lastAnswers(items);
  const results = new Map<string, string>();
  let run: string | undefined;
  for (const answer of answers) {
    const call = answer.type === "function_call_output" ? readFunctionCallId(answer.call_id) : undefined;
    if (answer.type !== "function_call_output" || !call || (run ?? call.runId) !== call.runId)
      return undefined;
    run = call.runId;
    results.set(call.callId, outputOf(answer));
  }
  return run === undefined ? undefined : { runId: run, results };
}

function streamed(
  { events, projection, onGone }: Telling,
  onClose: () => void,
  deployment: Deployment,
): Response {
  return frameStream({ frames: frames(events, projection, deployment), onClose, onGone });
}

async function* frames(
  events: AsyncIterable<Event>,
  projection: ResponseEvents,
  { report }: Deployment,
): AsyncGenerator<string, void, undefined> {
  try {
    for await (const event of events) {
      for (const each of projection.hear(event)) yield formatSseEvent(each.type, each);
      if (projection.isOver()) return;
    }
    yield formatSseEvent("error", projection.fail(cutOff));
  } catch (thrown) {
    yield formatSseEvent("error", projection.fail(shownThrown(thrown, report)));
  }
}

const cutOff: AgentError = new AgentError(
  "draining",
  "The server is about to leave: a response that is kept goes on, and can be read again.",
);

async function whole({ events, projection }: Telling): Promise<Response> {
  for await (const event of events) {
    projection.hear(event);
    if (projection.isOver()) break;
  }
  if (!projection.isOver()) throw cutOff;
  const { error, ...response } = projection.response();
  if (!error) return Response.json({ ...response, error });
  return Response.json(openaiProblem(error), { status: openaiStatus(error.code) });
}

/** Whoever wants it comes back for it. */
async function begunOnly({ events, projection, onGone }: Telling): Promise<Response> {
  for await (const event of events) {
    projection.hear(event);
    break;
  }
  onGone();
  return Response.json(projection.response());
}

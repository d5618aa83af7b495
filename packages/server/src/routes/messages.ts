import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { createThreadError, toAnthropicError } from "../protocols/anthropic-error.ts";
import { formatSseEvent } from "../protocols/chat/chat-events.ts";
import { toAgentError } from "../protocols/client-error.ts";
import { cancelOnDisconnect, startClientRun, toRunFailure } from "../protocols/client-run.ts";
import { createMessageEncoder, type MessageEncoder } from "../protocols/messages/message-encoder.ts";
import type { MessageEvent } from "../protocols/messages/message-object.ts";
import { type MessagesRequest, messagesRequest } from "../protocols/messages/request.ts";
import { getFailureStatus } from "../protocols/openai-error.ts";
import type { EphemeralSegment } from "../runs/ephemeral-runs.ts";
import { defineRoute, type Route } from "./route.ts";

/** Anthropic's Messages API: agents appear as models, and the client keeps the history. */
export const messageRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/messages",
    summary: "Create a message with an agent, for clients of Anthropic's API. The client keeps the history.",
    // Clients of beta features add `beta=true`.
    query: z.strictObject({ beta: z.string().max(100).optional() }),
    body: messagesRequest,
    startsWork: true,
    responses: {
      200: {
        description: "The message, or its events as `text/event-stream`.",
        schema: z.looseObject({ id: z.string(), type: z.literal("message") }),
      },
    },
    async handle({ body, caller, request }, deployment) {
      if (body.hasThread) return refuseThread();
      const onClose = body.isStreamed ? deployment.quota.acquire(caller, "streams") : undefined;
      try {
        const answer = await startAnswer(body, caller, deployment);
        cancelOnDisconnect(request, answer.segment);
        return await (onClose ? respondWithStream(answer, request, onClose) : respondWithMessage(answer));
      } catch (thrown) {
        onClose?.();
        throw thrown;
      }
    },
  }),
];

function refuseThread(): Response {
  const id = `req_${crypto.randomUUID()}`;
  return Response.json(createThreadError(id), { status: 400, headers: { "request-id": id } });
}

type Answer = {
  readonly segment: EphemeralSegment;
  readonly encoder: MessageEncoder;
  /** The request id of Anthropic's clients is the run, which the server's log names. */
  readonly headers: { readonly "request-id": string };
  readonly caller: Caller;
  readonly report: Deployment["report"];
};

async function startAnswer(body: MessagesRequest, caller: Caller, deployment: Deployment): Promise<Answer> {
  const { segment, isFormed } = await startClientRun(body, caller, deployment);
  const { model, showsThinking } = body;
  const encoder = createMessageEncoder({
    ...{ id: `msg_${crypto.randomUUID()}`, model, isFormed, showsThinking },
  });
  const headers = { "request-id": segment.runId };
  return { segment, encoder, headers, caller, report: deployment.report };
}

async function respondWithMessage(answer: Answer): Promise<Response> {
  const { segment, encoder, headers } = answer;
  for await (const event of segment.events) encoder.encode(event);
  const result = await segment.result;
  if (encoder.finish(result, segment.declared)) return Response.json(encoder.getMessage(), { headers });
  const failure = toRunFailure(result, answer.caller);
  const status = getFailureStatus(failure.code);
  return Response.json(toAnthropicError(status, failure.message, segment.runId), { status, headers });
}

function respondWithStream(answer: Answer, request: Request, onClose: () => void): Response {
  const { segment, headers } = answer;
  const onDisconnect = segment.cancel;
  return streamFrames({
    ...{ frames: readFrames(answer), clientSignal: request.signal, headers, heartbeat: ping },
    ...{ onClose, onDisconnect },
  });
}

const formatFrame = (event: MessageEvent) => formatSseEvent(event.type, event);
const ping = formatFrame({ type: "ping" });

/** Yields the frames of a message. A failed message ends with an error instead of `message_stop`. */
async function* readFrames(answer: Answer): AsyncGenerator<string, void, undefined> {
  const { segment, encoder } = answer;
  const fail = ({ code, message }: { readonly code: string; readonly message: string }) =>
    formatFrame(toAnthropicError(getFailureStatus(code), message, segment.runId));
  try {
    yield encoder.start().map(formatFrame).join("");
    for await (const event of segment.events) {
      const frames = encoder.encode(event).map(formatFrame).join("");
      if (frames) yield frames;
    }
    const result = await segment.result;
    const ending = encoder.finish(result, segment.declared);
    yield ending ? ending.map(formatFrame).join("") : fail(toRunFailure(result, answer.caller));
  } catch (thrown) {
    yield fail(toAgentError(thrown, answer.report));
  }
}

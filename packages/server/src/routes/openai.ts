import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import {
  buildCompletion,
  type CompletionInfo,
  computeEnding,
  createCompletionCollector,
} from "../protocols/chat-completions/completion.ts";
import { streamCompletion } from "../protocols/chat-completions/completion-stream.ts";
import {
  type CompletionRequest,
  completionRequest,
  getDeclaredTools,
  getOutputSchema,
  requiresTool,
} from "../protocols/chat-completions/request.ts";
import { toAgentError } from "../protocols/client-error.ts";
import {
  type ClientRunRequest,
  cancelOnDisconnect,
  startClientRun,
  toRunFailure,
} from "../protocols/client-run.ts";
import { getFailureStatus, toOpenaiError } from "../protocols/openai-error.ts";
import { defineRoute, type Route } from "./route.ts";

/** OpenAI-compatible API: agents appear as models. */
export const openaiRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Create a chat completion with an agent. The client keeps the history.",
    body: completionRequest,
    startsWork: true,
    responses: {
      200: {
        description: "The completion, or its chunks as `text/event-stream`.",
        schema: z.looseObject({}),
      },
    },
    async handle({ body, caller, request }, deployment) {
      const info = { id: `chatcmpl-${crypto.randomUUID()}`, created: getUnixTime(), model: body.model };
      const asked = { body, caller, info, request };
      return body.stream ? respondWithStream(asked, deployment) : respondWithCompletion(asked, deployment);
    },
  }),
];

const getUnixTime = () => Math.floor(Date.now() / 1000);

type CompletionCall = {
  readonly body: CompletionRequest;
  readonly caller: Caller;
  readonly info: CompletionInfo;
  readonly request: Request;
};

async function respondWithStream(
  { body, caller, info, request }: CompletionCall,
  deployment: Deployment,
): Promise<Response> {
  const onClose = deployment.quota.acquire(caller, "streams");
  try {
    const { segment, isFormed } = await startClientRun(toClientRequest(body), caller, deployment);
    const collector = createCompletionCollector({ isFormed });
    cancelOnDisconnect(request, segment);
    const frames = streamCompletion({
      info,
      segment,
      collector,
      includeUsage: body.stream_options?.include_usage === true,
      formatFailure: (cause) =>
        toOpenaiError(
          "result" in cause
            ? toRunFailure(cause.result, caller)
            : toAgentError(cause.thrown, deployment.report),
        ),
    });
    return streamFrames({
      ...{ frames, clientSignal: request.signal, onClose },
      onDisconnect: segment.cancel,
    });
  } catch (thrown) {
    onClose();
    throw thrown;
  }
}

async function respondWithCompletion(
  { body, caller, info, request }: CompletionCall,
  deployment: Deployment,
): Promise<Response> {
  const { segment, isFormed } = await startClientRun(toClientRequest(body), caller, deployment);
  const collector = createCompletionCollector({ isFormed });
  cancelOnDisconnect(request, segment);
  for await (const event of segment.events) collector.add(event);
  const result = await segment.result;
  const ending = computeEnding(result, collector, segment.declared);
  if (ending) return Response.json(buildCompletion(info, collector, ending));
  const failure = toRunFailure(result, caller);
  return Response.json(toOpenaiError(failure), { status: getFailureStatus(failure.code) });
}

function toClientRequest(body: CompletionRequest): ClientRunRequest {
  return {
    ...body,
    tools: getDeclaredTools(body),
    requiresTool: requiresTool(body),
    output: getOutputSchema(body),
  };
}

import type { Event } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { type FollowedRun, getChatThread, startChatRun } from "../protocols/ai-sdk/chat-runs.ts";
import { uiChatRequest } from "../protocols/ai-sdk/request.ts";
import { createUiMessageStream, formatUiFrame, lastUiFrame } from "../protocols/ai-sdk/ui-message-stream.ts";
import { toAgentError, toClientError } from "../protocols/client-error.ts";
import { connectToRun, setAbandoned } from "../runs/abandoned-runs.ts";
import {
  findLastRun,
  findThreadSession,
  readUntilSuspended,
  stopThread,
  waitsForInput,
} from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, onDisconnect } from "./schemas.ts";

const answer = {
  description:
    "Chunks of one message, then `[DONE]`. The headers `X-Run-Id` and `X-Session-Id` identify the run.",
  type: "text/event-stream",
};

/** AI SDK chats: `useChat` with its default transport. */
export const uiChatRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/ui/chat",
    summary:
      "Chat with `useChat` of the AI SDK. The server keeps the history in a session derived from the chat id and uses only the newest message. An edited message continues in a fork from before it.",
    query: z.strictObject({ onDisconnect }),
    body: uiChatRequest,
    startsWork: true,
    responses: { 200: answer },
    handle: ({ body, caller, key, query, request }, deployment) =>
      streamRun({ caller, request, ...query }, deployment, () =>
        startChatRun({ body, key, caller }, deployment),
      ),
  }),
  defineRoute({
    method: "GET",
    path: "/api/ui/chat/{chatId}/stream",
    summary: "Stream the current answer of a chat from its start.",
    params: z.strictObject({ chatId: id }),
    query: z.strictObject({ onDisconnect }),
    responses: { 200: answer, 204: { description: "No answer is in progress." } },
    async handle({ params: { chatId }, caller, query, request }, deployment) {
      const { store } = deployment;
      const sessionId = await findThreadSession(store, getChatThread(caller, chatId));
      const run = await findLastRun(store, sessionId);
      if (run?.state !== "active") return new Response(null, { status: 204 });
      await setAbandoned(store, sessionId, undefined);
      return streamRun({ caller, request, ...query }, deployment, async () => run);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/ui/chat/{chatId}/stop",
    summary:
      "Stop an answer of a chat. Its text so far stays in the history. Without `messageId`, the current answer is stopped.",
    params: z.strictObject({ chatId: id }),
    body: z.strictObject({ messageId: z.string().max(200).optional() }).default({}),
    responses: {
      200: { description: "The answer has ended, now or before.", schema: z.strictObject({}) },
    },
    async handle({ params: { chatId }, body: { messageId }, caller }, deployment) {
      await stopThread(deployment, getChatThread(caller, chatId), messageId);
      return Response.json({});
    },
  }),
];

type StreamOptions = {
  readonly caller: Caller;
  readonly request: Request;
  readonly onDisconnect?: "stop" | undefined;
};

/** Streams a run. Unless the client wishes otherwise, the run continues when it disconnects. */
async function streamRun(
  { caller, request, onDisconnect: action }: StreamOptions,
  deployment: Deployment,
  begin: () => Promise<FollowedRun>,
): Promise<Response> {
  const release = deployment.quota.acquire(caller, "streams");
  try {
    const segment = await begin();
    const events = readUntilSuspended(deployment, segment);
    return streamFrames({
      ...connectToRun(deployment, segment, { onDisconnect: action, release }),
      frames: streamUiFrames(segment, events, { caller, deployment }),
      clientSignal: request.signal,
      headers: {
        "x-vercel-ai-ui-message-stream": "v1",
        "x-run-id": segment.runId,
        "x-session-id": segment.sessionId,
      },
    });
  } catch (thrown) {
    release();
    throw thrown;
  }
}

type FrameContext = { readonly caller: Caller; readonly deployment: Deployment };

async function* streamUiFrames(
  { runId, sessionId, shown = [] }: FollowedRun,
  events: AsyncIterable<Event>,
  { caller, deployment }: FrameContext,
): AsyncGenerator<string, void, undefined> {
  const stream = createUiMessageStream({
    runId,
    sessionId,
    shown,
    formatError: (error) => toClientError(error, caller, runId),
  });
  const { shutdownSignal, report } = deployment;
  try {
    yield stream.begin().map(formatUiFrame).join("");
    let isOver = false;
    for await (const event of events) {
      isOver = (event.type === "done" || waitsForInput(event)) && event.runId === runId;
      const text = stream.encode(event).map(formatUiFrame).join("");
      if (text) yield text;
    }
    if (isOver || !shutdownSignal.aborted) yield stream.end().map(formatUiFrame).join("");
    else
      yield formatUiFrame({
        type: "error",
        errorText: "The server is shutting down. The answer continues and can be read again.",
      });
  } catch (thrown) {
    yield formatUiFrame({ type: "error", errorText: toAgentError(thrown, report).message });
  }
  yield lastUiFrame;
}

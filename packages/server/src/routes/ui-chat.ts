import { isDeepStrictEqual } from "node:util";
import { AgentError, type Event } from "capstan";
import { loadRunStart } from "capstan/sessions";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import {
  findContinuedMessage,
  getCallIds,
  getNewestContent,
  getPendingAnswers,
  type UiChatRequest,
  type UiMessage,
  uiChatRequest,
} from "../protocols/ai-sdk/request.ts";
import { createUiMessageStream, formatUiFrame, lastUiFrame } from "../protocols/ai-sdk/ui-message-stream.ts";
import { toAgentError, toClientError } from "../protocols/client-error.ts";
import { rerunRun } from "../runs/rerun.ts";
import { sendToRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import {
  findLastRun,
  findLastWait,
  findThreadSession,
  moveThread,
  readUntilSuspended,
  type Thread,
  waitsForInput,
} from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";
import { id } from "./schemas.ts";

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
      "Chat with `useChat` of the AI SDK. The server keeps the history in a session derived from the chat id and uses only the newest message.",
    body: uiChatRequest,
    startsWork: true,
    responses: { 200: answer },
    handle: ({ body, caller, key }, deployment) =>
      streamRun(caller, deployment, async () => {
        const message = findContinuedMessage(body);
        if (message) return resumeRun({ body, message }, caller, deployment);
        return body.trigger === "submit-message"
          ? startChatRun({ body, key }, caller, deployment)
          : regenerateAnswer({ body, key }, caller, deployment);
      }),
  }),
  defineRoute({
    method: "GET",
    path: "/api/ui/chat/{chatId}/stream",
    summary: "Stream the current answer of a chat from its start.",
    params: z.strictObject({ chatId: id }),
    responses: { 200: answer, 204: { description: "No answer is in progress." } },
    async handle({ params: { chatId }, caller }, deployment) {
      const sessionId = await findThreadSession(deployment.store, getThread(caller, chatId));
      const run = await findLastRun(deployment.store, sessionId);
      if (run?.state !== "active") return new Response(null, { status: 204 });
      return streamRun(caller, deployment, async () => run);
    },
  }),
];

function getThread({ scope }: Caller, chatId: string): Thread {
  return { protocol: "ui-chat", scope, id: chatId };
}

/** A run to stream, the position to start from, and the calls that the client already has. */
type FollowedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly after?: number;
  readonly shown?: readonly string[];
};

type ChatRequest = { readonly body: UiChatRequest; readonly key: string | undefined };

async function startChatRun(
  { body, key }: ChatRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { agent, model, id: chatId } = body;
  const sessionId = await findThreadSession(deployment.store, getThread(caller, chatId));
  return startRun(deployment, caller, { input: getNewestContent(body), agent, model, sessionId, key });
}

/** Answers the newest message again, in a fork from before it. The old answer is kept in the old session. */
async function regenerateAnswer(
  asking: ChatRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { store } = deployment;
  const { body, key } = asking;
  const thread = getThread(caller, body.id);
  const input = getNewestContent(body);
  const sessionId = await findThreadSession(store, thread);
  const runs = await store.listRuns(sessionId);
  const open = runs.find(({ state }) => state !== "ended");
  if (open)
    throw new AgentError(
      "session_busy",
      "The chat is still processing its last message. Answer it, or wait.",
    );
  const number = body.messages.filter(({ role }) => role === "user").length;
  // The request that should have started the run was lost.
  if (number === runs.length + 1) return startChatRun(asking, caller, deployment);
  const start = await loadRunStart(store, runs[number - 1]?.runId ?? "");
  if (!start || !isDeepStrictEqual(start.input, [{ type: "user", content: input }]))
    throw new AgentError("not_found", "The chat does not contain this message. Send it as a new one.");
  const again = await rerunRun(deployment, caller, { runId: start.runId, key });
  await moveThread(store, thread, again.sessionId);
  return again;
}

type AnswerRequest = { readonly body: UiChatRequest; readonly message: UiMessage };

/** Resumes a waiting run with the answers in the message. */
async function resumeRun(
  { body, message }: AnswerRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { store, engine } = deployment;
  const run = await findLastRun(store, await findThreadSession(store, getThread(caller, body.id)));
  if (!run || run.state === "ended") throw createNoAnswerError();
  const answers = getPendingAnswers(message, (await engine.getResult(run.runId)).pending);
  // The same answer may arrive twice while the run is already continuing.
  if (answers.length === 0 && run.state !== "active") throw createNoAnswerError();
  const after = await findLastWait(store, run);
  for (const each of answers) await sendToRun(deployment, { caller, runId: run.runId }, each);
  return { ...run, after, shown: getCallIds(message) };
}

function createNoAnswerError(): AgentError {
  const message = "The message contains no answer that this chat waits for.";
  return new AgentError("approval_conflict", message);
}

/** Streams a run. The run continues when the client disconnects. */
async function streamRun(
  caller: Caller,
  deployment: Deployment,
  begin: () => Promise<FollowedRun>,
): Promise<Response> {
  const onClose = deployment.quota.acquire(caller, "streams");
  try {
    const segment = await begin();
    const events = readUntilSuspended(deployment, segment);
    return streamFrames({
      frames: streamUiFrames(segment, events, { caller, deployment }),
      onClose,
      headers: {
        "x-vercel-ai-ui-message-stream": "v1",
        "x-run-id": segment.runId,
        "x-session-id": segment.sessionId,
      },
    });
  } catch (thrown) {
    onClose();
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

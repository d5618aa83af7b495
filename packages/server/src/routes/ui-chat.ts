import { isDeepStrictEqual } from "node:util";
import { AgentError, type Event, type Fact } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { frameStream } from "../http/frame-stream.ts";
import {
  answersIn,
  callIdsIn,
  continued,
  newestContent,
  type UiChatRequest,
  type UiMessage,
  uiChatRequest,
} from "../protocols/ai-sdk/request.ts";
import { lastUiFrame, uiFrame, uiMessageStream } from "../protocols/ai-sdk/ui-message-stream.ts";
import { shownError, shownThrown } from "../protocols/client-error.ts";
import { rerunRun } from "../runs/rerun.ts";
import { tellRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import { lastRest, lastRun, moveThread, sessionOfThread, type Thread, untilRest } from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";
import { id } from "./schemas.ts";

const answer = {
  description:
    "The chunks of one message; `[DONE]` last. The headers `X-Run-Id` and `X-Session-Id` say which run it is.",
  type: "text/event-stream",
};

/** Chats of the AI SDK: `useChat` with its default transport. */
export const uiChatRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/ui/chat",
    summary:
      "Ask as `useChat` of the AI SDK does. The history is kept here, in a session that is made from the chat's id: of the messages, only the newest is taken.",
    body: uiChatRequest,
    beginsWork: true,
    answers: { 200: answer },
    handle: ({ body, caller, key }, deployment) =>
      streamed(caller, deployment, async () => {
        const message = continued(body);
        if (message) return answered({ body, message }, caller, deployment);
        return body.trigger === "submit-message"
          ? asked({ body, key }, caller, deployment)
          : askedAgain({ body, key }, caller, deployment);
      }),
  }),
  defineRoute({
    method: "GET",
    path: "/api/ui/chat/{chatId}/stream",
    summary: "Read the answer that a chat is at, from its beginning.",
    params: z.strictObject({ chatId: id }),
    answers: { 200: answer, 204: { description: "Nothing is being answered." } },
    async handle({ params: { chatId }, caller }, deployment) {
      const sessionId = await sessionOfThread(deployment.store, threadOf(caller, chatId));
      const run = await lastRun(deployment.store, sessionId);
      if (run?.state !== "active") return new Response(null, { status: 204 });
      return streamed(caller, deployment, async () => run);
    },
  }),
];

function threadOf({ scope }: Caller, chatId: string): Thread {
  return { protocol: "ui-chat", scope, id: chatId };
}

/** A run to be read, from where, and what of it the client has. */
type Leg = {
  readonly runId: string;
  readonly sessionId: string;
  readonly after?: number;
  readonly shown?: readonly string[];
};

type Asking = { readonly body: UiChatRequest; readonly key: string | undefined };

async function asked({ body, key }: Asking, caller: Caller, deployment: Deployment): Promise<Leg> {
  const { agent, model, id: chatId } = body;
  const sessionId = await sessionOfThread(deployment.store, threadOf(caller, chatId));
  return startRun(deployment, caller, { input: newestContent(body), agent, model, sessionId, key });
}

/** Answers the newest message anew, in a fork from before it; the old answer stays where it was. */
async function askedAgain(asking: Asking, caller: Caller, deployment: Deployment): Promise<Leg> {
  const { store } = deployment;
  const { body, key } = asking;
  const thread = threadOf(caller, body.id);
  const input = newestContent(body);
  const sessionId = await sessionOfThread(store, thread);
  const runs = await store.listRuns(sessionId);
  const open = runs.find(({ state }) => state !== "ended");
  if (open)
    throw new AgentError("session_busy", "The chat is not done with its last message: answer it, or wait.");
  const number = body.messages.filter(({ role }) => role === "user").length;
  // The request that would have begun it has not come through.
  if (number === runs.length + 1) return asked(asking, caller, deployment);
  const { runId } = runs[number - 1] ?? {};
  const start = (await store.read(sessionId)).find(
    (fact): fact is Extract<Fact, { type: "run_start" }> => fact.type === "run_start" && fact.runId === runId,
  );
  if (!start || !isDeepStrictEqual(start.input, [{ type: "user", content: input }]))
    throw new AgentError("not_found", "The chat has no such message here: say it as a new one.");
  const again = await rerunRun(deployment, caller, { runId: start.runId, key });
  await moveThread(store, thread, again.sessionId);
  return again;
}

type Answering = { readonly body: UiChatRequest; readonly message: UiMessage };

/** Goes on with a run that has asked for something. */
async function answered({ body, message }: Answering, caller: Caller, deployment: Deployment): Promise<Leg> {
  const { store, engine } = deployment;
  const run = await lastRun(store, await sessionOfThread(store, threadOf(caller, body.id)));
  if (!run || run.state === "ended") throw nothingAsked();
  const answers = answersIn(message, (await engine.getResult(run.runId)).pending);
  // The same answer may come twice: the run is at work on it.
  if (answers.length === 0 && run.state !== "active") throw nothingAsked();
  const after = await lastRest(store, run);
  for (const each of answers) await tellRun(deployment, { caller, runId: run.runId }, each);
  return { ...run, after, shown: callIdsIn(message) };
}

function nothingAsked(): AgentError {
  const message =
    "Nothing in this message answers what the chat has asked: only what it waits for can be answered.";
  return new AgentError("approval_conflict", message);
}

/** Reads a run to a client. Whoever goes away leaves the run as it is. */
async function streamed(
  caller: Caller,
  deployment: Deployment,
  begin: () => Promise<Leg>,
): Promise<Response> {
  const onClose = deployment.allowance.take(caller, "streams");
  try {
    const leg = await begin();
    const events = untilRest(deployment, leg);
    return frameStream({
      frames: framesOf(leg, events, { caller, deployment }),
      onClose,
      headers: {
        "x-vercel-ai-ui-message-stream": "v1",
        "x-run-id": leg.runId,
        "x-session-id": leg.sessionId,
      },
    });
  } catch (thrown) {
    onClose();
    throw thrown;
  }
}

type Showing = { readonly caller: Caller; readonly deployment: Deployment };

async function* framesOf(
  { runId, sessionId, shown = [] }: Leg,
  events: AsyncIterable<Event>,
  { caller, deployment }: Showing,
): AsyncGenerator<string, void, undefined> {
  const stream = uiMessageStream({
    runId,
    sessionId,
    shown,
    showError: (error) => shownError(error, caller, runId),
  });
  const { leaving, report } = deployment;
  try {
    yield stream.begin().map(uiFrame).join("");
    let isOver = false;
    for await (const event of events) {
      isOver = isRest(event) && event.runId === runId;
      const text = stream.hear(event).map(uiFrame).join("");
      if (text) yield text;
    }
    if (isOver || !leaving.aborted) yield stream.end().map(uiFrame).join("");
    else
      yield uiFrame({
        type: "error",
        errorText: "The server is about to leave: the answer goes on, read it again.",
      });
  } catch (thrown) {
    yield uiFrame({ type: "error", errorText: shownThrown(thrown, report).message });
  }
  yield lastUiFrame;
}

function isRest(event: Event): boolean {
  return event.type === "done" || (event.type === "waiting" && event.until === undefined);
}

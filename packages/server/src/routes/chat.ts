import { AgentError, type Event } from "capstan";
import { subscribe } from "capstan/sessions";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { eventFrame } from "../http/event-stream.ts";
import { frameStream } from "../http/frame-stream.ts";
import { type ChatEvent, chatEvents, formatSseEvent } from "../protocols/chat/chat-events.ts";
import { type ChatMessage, chatMessages, wordsOf } from "../protocols/chat-messages.ts";
import { clientAgent } from "../protocols/client-agent.ts";
import { shownError, shownThrown } from "../protocols/client-error.ts";
import { clientHistory } from "../protocols/client-history.ts";
import { startRun } from "../runs/start-run.ts";
import { defineRoute, type Route } from "./route.ts";
import { id } from "./schemas.ts";

const body = z.strictObject({
  messages: chatMessages,
  model: z.string().max(200).optional(),
  agent: z.string().max(200).optional(),
  sessionId: id.optional(),
});

type Body = z.output<typeof body>;

/** How the events are written: those of the chat, or every one in its own form. */
type Form = { readonly events?: "all" | undefined };

/** The chat: one request, one stream of a few kinds of events. */
export const chatRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/chat",
    summary:
      "Ask, and read the answer as it comes. Without `sessionId` the messages are the whole history, and the run ends with the connection; with it the history is kept here, and so is the run.",
    query: z.strictObject({ events: z.literal("all").optional() }),
    body,
    beginsWork: true,
    answers: {
      200: {
        description:
          "`content_delta`, `tool_call_start`, `tool_call_result`, `error`, and `done` last. Where the run is kept, the headers `X-Run-Id` and `X-Session-Id` say which it is.",
        type: "text/event-stream",
      },
    },
    async handle({ body: asked, query, caller, key, request }, deployment) {
      const onClose = deployment.allowance.take(caller, "streams");
      try {
        const { sessionId } = asked;
        const chat =
          sessionId === undefined
            ? await passingChat(asked, caller, deployment)
            : await keptChat({ ...asked, sessionId, key }, caller, deployment);
        if (request.signal.aborted) chat.onGone();
        else request.signal.addEventListener("abort", chat.onGone, { once: true });
        const frames = chatFrames(chat, { form: query, caller, deployment });
        return frameStream({ frames, onClose, onGone: chat.onGone, headers: chat.headers });
      } catch (thrown) {
        onClose();
        throw thrown;
      }
    },
  }),
];

type Chat = {
  readonly runId: string;
  readonly events: AsyncIterableIterator<Event>;
  readonly headers: Record<string, string>;
  onGone(): void;
};

/** The client has the history: when it goes, nobody needs the run any more. */
async function passingChat(
  { messages, agent, model }: Body,
  caller: Caller,
  deployment: Deployment,
): Promise<Chat> {
  const { instructions, rest } = withoutSystem(messages, caller);
  const chosen = clientAgent(await deployment.agent(agent, model), { instructions });
  const { runId, events, abandon } = await deployment.passing.start(caller, {
    agent: chosen,
    entries: clientHistory(rest),
  });
  return { runId, events, headers: {}, onGone: abandon };
}

/** A system message that comes first takes the place of the agent's instructions, for those who may change agents. */
function withoutSystem(messages: readonly ChatMessage[], { isAdmin }: Caller) {
  const [first, ...others] = messages;
  const isFirst = first?.role === "system";
  const rest = isFirst ? others : messages;
  if (rest.some(({ role }) => role === "system" || role === "developer"))
    throw new AgentError("invalid_input", "A system message can only be the first one.");
  if (!isFirst) return { rest };
  if (!isAdmin)
    throw new AgentError(
      "invalid_input",
      "The instructions are the agent's own: leave the system message out.",
    );
  return { rest, instructions: wordsOf(first.content, "Message 1") };
}

/** The history is here: the client only says what is new, and may come back for the rest of the answer. */
async function keptChat(
  { messages, sessionId, ...asked }: Body & { readonly sessionId: string; readonly key: string | undefined },
  caller: Caller,
  deployment: Deployment,
): Promise<Chat> {
  const [message, another] = messages;
  if (message?.role !== "user" || another)
    throw new AgentError(
      "invalid_input",
      "The history of a session is kept here: send one message, the user's.",
    );
  const [entry] = clientHistory([message]);
  if (entry?.type !== "user") throw new AgentError("invalid_input", "There is nothing in the message.");
  const { store, leaving } = deployment;
  // Listened to before it begins: what is said meanwhile is not stored word by word.
  const after = (await store.getSession(sessionId))?.facts ?? 0;
  const events = subscribe(store, { sessionId, after }, { signal: leaving });
  const first = events.next();
  first.catch(() => undefined); // told to whoever reads on
  try {
    const { runId, isNew } = await startRun(deployment, caller, {
      ...asked,
      sessionId,
      input: entry.content,
    });
    const headers = { "x-run-id": runId, "x-session-id": sessionId };
    const read = isNew
      ? ofRun(runId, events, first)
      : subscribe(store, { runId }, { signal: leaving, untilRest: true });
    if (!isNew) void events.return?.();
    return { runId, events: read, headers, onGone: () => void events.return?.() };
  } catch (thrown) {
    void events.return?.();
    throw thrown;
  }
}

/** The events of one run until it ends or waits, those of runs inside of it too. */
async function* ofRun(
  runId: string,
  events: AsyncIterableIterator<Event, void, undefined>,
  first: Promise<IteratorResult<Event, void>>,
): AsyncGenerator<Event, void, undefined> {
  for (let { done, value } = await first; !done && value; { done, value } = await events.next()) {
    yield value;
    const isRest = value.type === "done" || value.type === "waiting";
    if (isRest && value.runId === runId) return void (await events.return?.());
  }
}

type Writing = { readonly form: Form; readonly caller: Caller; readonly deployment: Deployment };

async function* chatFrames(
  { runId, events }: Chat,
  { form, caller, deployment }: Writing,
): AsyncGenerator<string, void, undefined> {
  const project = chatEvents((error) => shownError(error, caller, runId));
  let isOver = false;
  function written({ event, data }: ChatEvent): string {
    isOver = event === "done";
    const frame = formatSseEvent(event, data);
    deployment.sseLog?.(`event: ${event} | data: ${JSON.stringify(data)}`);
    return frame;
  }
  try {
    for await (const event of events)
      if (form.events === "all") yield eventFrame(event);
      else for (const each of project(event)) yield written(each);
    if (form.events === "all" || isOver) return;
    const message = "The server is about to leave: a run that is kept goes on, and can be read again.";
    yield written({ event: "error", data: { code: "draining", message } });
  } catch (thrown) {
    const { code, message } = shownThrown(thrown, deployment.report);
    yield written({ event: "error", data: { code, message } });
  }
  yield written({ event: "done", data: {} });
}

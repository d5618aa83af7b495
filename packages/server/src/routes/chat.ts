import { AgentError, type Event, type Json } from "capstan";
import { subscribe } from "capstan/sessions";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { parseCallId } from "../protocols/call-ids.ts";
import { type ChatFormat, createChatFormat } from "../protocols/chat/chat-format.ts";
import { type ChatMessage, chatMessages, joinMessageText } from "../protocols/chat-messages.ts";
import { createClientAgent } from "../protocols/client-agent.ts";
import { toAgentError } from "../protocols/client-error.ts";
import { readClientHistory, toUserContent } from "../protocols/client-history.ts";
import type { EphemeralSegment } from "../runs/ephemeral-runs.ts";
import { startRun } from "../runs/start-run.ts";
import { readUntilSuspended, waitsForInput } from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";
import { id, json, view } from "./schemas.ts";

const approval = z.strictObject({
  id: z.string().min(1).max(500).describe("`approval_id` of the event `approval_required`."),
  approved: z.boolean(),
  reason: z.string().max(1000).optional().describe("For the model, if the call is denied."),
  value: json.optional().describe("The answer to a tool's question."),
});

const body = z.strictObject({
  messages: chatMessages.optional().describe("Required unless there are `approvals`."),
  approvals: z
    .array(approval)
    .min(1)
    .max(128)
    .optional()
    .describe("Decisions about calls of a run without `sessionId`, which continues. `messages` is ignored."),
  model: z.string().max(200).optional(),
  agent: z.string().max(200).optional(),
  sessionId: id.optional(),
});

type Body = z.output<typeof body>;

export const chatRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/chat",
    summary:
      "Send a message and stream the answer. Without `sessionId`, `messages` is the whole history and the run ends with the connection. With it, the server stores history and run.",
    query: z.strictObject({ events: view }),
    body,
    startsWork: true,
    responses: {
      200: {
        description:
          "`content_delta`, `tool_call_start`, `tool_call_result`, `approval_required`, `error`, and finally `done`. With `events`, another view, or `all` events in their own form. For a stored run, the headers `X-Run-Id` and `X-Session-Id` identify it.",
        type: "text/event-stream",
      },
    },
    async handle({ body: asked, query, caller, key, request }, deployment) {
      const format = createChatFormat(query.events, { isStored: asked.sessionId !== undefined }, deployment);
      const onClose = deployment.quota.acquire(caller, "streams");
      try {
        const chat = await startChat({ ...asked, key }, caller, deployment);
        const frames = streamChatFrames(chat, format, deployment);
        const { onDisconnect, headers } = chat;
        return streamFrames({ frames, clientSignal: request.signal, onClose, onDisconnect, headers });
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
  /** Facts that the client has already. */
  readonly earlier: readonly Event[];
  readonly headers: Record<string, string>;
  onDisconnect(): void;
};

type ChatRequest = Body & { readonly key: string | undefined };

function startChat(asked: ChatRequest, caller: Caller, deployment: Deployment): Promise<Chat> {
  const { approvals, sessionId, messages } = asked;
  if (approvals && sessionId !== undefined)
    throw new AgentError(
      "invalid_input",
      "Approve calls of a session with `POST /api/runs/{runId}/approvals/{callId}`.",
    );
  if (approvals) return continueChat(approvals, caller, deployment);
  if (!messages) throw new AgentError("invalid_input", "Invalid body at messages: is required.");
  return sessionId === undefined
    ? startEphemeralChat({ ...asked, messages }, caller, deployment)
    : startStoredChat({ ...asked, messages, sessionId }, caller, deployment);
}

/** Passes the user's decisions to the run that waits for them. */
async function continueChat(
  approvals: NonNullable<Body["approvals"]>,
  caller: Caller,
  { ephemeralRuns }: Deployment,
): Promise<Chat> {
  const calls = approvals.map(({ id }) => parseCallId(id));
  const [first] = calls;
  const isOneRun = first !== undefined && calls.every((call) => call?.runId === first.runId);
  const decisions = new Map(
    approvals.map(({ approved, reason, value }, index) => [
      calls[index]?.callId ?? "",
      { approved, reason, value: value as Json | undefined },
    ]),
  );
  const segment = isOneRun && (await ephemeralRuns.resume(caller, { runId: first.runId, decisions }));
  if (segment) return toEphemeralChat(segment);
  throw new AgentError(
    "not_found",
    "No run waits for these approvals: they were given before, or an hour ago, or never requested. Send the messages again.",
  );
}

function toEphemeralChat({ runId, events, earlier, cancel }: EphemeralSegment): Chat {
  return { runId, events, earlier, headers: {}, onDisconnect: cancel };
}

type WithMessages = { readonly messages: readonly ChatMessage[] };

/** The client keeps the history; the run is cancelled when the client disconnects. */
async function startEphemeralChat(
  { messages, agent, model }: Body & WithMessages,
  caller: Caller,
  deployment: Deployment,
): Promise<Chat> {
  const { instructions, rest } = splitSystemMessage(messages, caller);
  const chosen = createClientAgent(await deployment.resolveAgent(agent, model), { instructions });
  const entries = readClientHistory(rest, { caller, deployment });
  return toEphemeralChat(
    await deployment.ephemeralRuns.start(caller, { agent: chosen, entries, canApprove: true }),
  );
}

/** A leading system message replaces the agent's instructions; admins only. */
function splitSystemMessage(messages: readonly ChatMessage[], { isAdmin }: Caller) {
  const [first, ...others] = messages;
  const isFirst = first?.role === "system";
  const rest = isFirst ? others : messages;
  if (rest.some(({ role }) => role === "system" || role === "developer"))
    throw new AgentError("invalid_input", "Only the first message can be a system message.");
  if (!isFirst) return { rest };
  if (!isAdmin)
    throw new AgentError(
      "invalid_input",
      "Only admins can send a system message. Omit it to use the agent's instructions.",
    );
  return { rest, instructions: joinMessageText(first.content, "Message 1") };
}

/** The server keeps the history; the client sends one message and can reconnect for the rest of the answer. */
async function startStoredChat(
  { messages, sessionId, agent, model, key }: ChatRequest & WithMessages & { readonly sessionId: string },
  caller: Caller,
  deployment: Deployment,
): Promise<Chat> {
  const [message, another] = messages;
  if (message?.role !== "user" || another)
    throw new AgentError(
      "invalid_input",
      "The server keeps the history of a session. Send one user message.",
    );
  const input = toUserContent(message.content, "The message");
  const { store, shutdownSignal } = deployment;
  // Subscribe before the run starts, because deltas are not stored.
  const after = (await store.getSession(sessionId))?.facts ?? 0;
  const events = subscribe(store, { sessionId, after }, { signal: shutdownSignal });
  const first = events.next();
  first.catch(() => undefined); // reported to the reader of the stream
  try {
    const started = await startRun(deployment, caller, { agent, model, key, sessionId, input });
    const { runId } = started;
    const headers = { "x-run-id": runId, "x-session-id": sessionId };
    const isFirst = started.isNew && started.state === "started";
    const read = isFirst ? readFirstRun(runId, events, first) : readUntilSuspended(deployment, started);
    if (!isFirst) void events.return?.();
    return { runId, events: read, earlier: [], headers, onDisconnect: () => void events.return?.() };
  } catch (thrown) {
    void events.return?.();
    throw thrown;
  }
}

/** Yields the events of a run and its nested runs until it ends or waits for input. */
async function* readFirstRun(
  runId: string,
  events: AsyncIterableIterator<Event, void, undefined>,
  first: Promise<IteratorResult<Event, void>>,
): AsyncGenerator<Event, void, undefined> {
  for (let { done, value } = await first; !done && value; { done, value } = await events.next()) {
    yield value;
    const isRest = value.type === "done" || waitsForInput(value);
    if (isRest && value.runId === runId) return void (await events.return?.());
  }
}

async function* streamChatFrames(
  { runId, events, earlier }: Chat,
  { skipEvent, formatEvent, formatShutdown, formatFailure }: ChatFormat,
  { report }: Deployment,
): AsyncGenerator<string, void, undefined> {
  let isOver = false;
  for (const event of earlier) skipEvent(event);
  try {
    for await (const event of events) {
      if (event.runId === runId) isOver = event.type === "done" || waitsForInput(event);
      const frames = formatEvent(event);
      if (frames) yield frames;
    }
    if (!isOver) yield formatShutdown();
  } catch (thrown) {
    yield formatFailure(toAgentError(thrown, report));
  }
}

import { AgentError, type RunInfo, type Store } from "capstan";
import { deleteQueue, getScope, loadRunStart } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { setAbandoned, stopAbandonedRun } from "../../runs/abandoned-runs.ts";
import { sendToRun } from "../../runs/send-to-run.ts";
import { createSessionId, startRun } from "../../runs/start-run.ts";
import { stopRun } from "../../runs/stop-run.ts";
import { findLastRun, findLastWait, findThreadSession, moveThread, type Thread } from "../../runs/threads.ts";
import { forkSession } from "../../sessions/create-session.ts";
import {
  findContinuedMessage,
  getCallIds,
  getNewestContent,
  getPendingAnswers,
  hasContent,
  isNewMessage,
  type UiChatRequest,
  type UiMessage,
} from "./request.ts";

/** A run to stream, the position to start from, and the calls that the client already has. */
export type FollowedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly after?: number;
  readonly shown?: readonly string[];
};

export type ChatRequest = {
  readonly body: UiChatRequest;
  readonly key: string | undefined;
  readonly caller: Caller;
};

export function getChatThread({ scope }: Caller, chatId: string): Thread {
  return { protocol: "ui-chat", scope, id: chatId };
}

/** Starts or resumes the run that answers a request. */
export async function startChatRun(request: ChatRequest, deployment: Deployment): Promise<FollowedRun> {
  const { body, caller } = request;
  const sessionId = await findThreadSession(deployment.store, getChatThread(caller, body.id));
  const message = findContinuedMessage(body);
  if (message) return resumeRun({ ...request, message, sessionId }, deployment);
  return isNewMessage(body)
    ? sendNewMessage(request, sessionId, deployment)
    : replaceMessage(request, sessionId, deployment);
}

async function sendNewMessage(
  { body, caller, key }: ChatRequest,
  sessionId: string,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { agent, model } = body;
  await stopAbandonedRun(deployment, sessionId, key);
  const input = getNewestContent(body);
  const started = await startRun(deployment, caller, { input, agent, model, sessionId, key });
  if (!started.isNew) await setAbandoned(deployment.store, sessionId, undefined);
  return started;
}

/**
 * Answers an earlier message again, edited or not, in a fork from before it. The chat continues there; the old messages
 * stay in the old session. Unfinished and queued runs end there: the client no longer shows them.
 */
async function replaceMessage(
  request: ChatRequest,
  sessionId: string,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { store } = deployment;
  const { body, caller, key } = request;
  const run = await findMessageRun(store, { sessionId, scope: caller.scope }, body.messages);
  const isRepeated = key !== undefined && sessionId === createSessionId(caller.scope, key);
  // Without a run, the request that should have started it was lost.
  if (!run || isRepeated) return sendNewMessage(request, sessionId, deployment);
  const start = await loadRunStart(store, run.runId);
  if (!start || (body.trigger === "regenerate-message" && !hasContent(body.messages.at(-1), start.input)))
    throw new AgentError("not_found", "The chat does not contain this message. Send it as a new one.");

  await deleteQueue(store, sessionId); // first, so that no run starts when the active one ends
  const last = await findLastRun(store, sessionId);
  if (last && last.state !== "ended") await stopRun(deployment, last);
  const { value: fork } = await forkSession(deployment, { caller, key }, { sessionId, at: start.seq - 1 });
  const started = await sendNewMessage(request, fork, deployment);
  await moveThread(store, getChatThread(caller, body.id), fork);
  return started;
}

/**
 * Finds the run that the last message has started before it was edited: the run after the answer that precedes it.
 * Messages in between have started a run only if one has their content: the server may have refused them. Answers are
 * named after their run, whose copy in a fork has the same number.
 */
async function findMessageRun(
  store: Store,
  { sessionId, scope }: { readonly sessionId: string; readonly scope: string },
  messages: readonly UiMessage[],
): Promise<RunInfo | undefined> {
  const runs = await store.listRuns(sessionId);
  const earlier = messages.slice(0, -1);
  const position = earlier.findLastIndex(({ role }) => role === "assistant");
  const answered = await store.findRun(earlier[position]?.id ?? "");
  const isTheirs = answered !== undefined && getScope(answered.sessionId) === scope;
  const siblings = isTheirs ? await store.listRuns(answered.sessionId) : [];
  let number = siblings.findIndex(({ runId }) => runId === answered?.runId) + 1;
  for (const message of earlier.slice(number === 0 ? 0 : position)) {
    const start = await loadRunStart(store, runs[number]?.runId ?? "");
    if (start && hasContent(message, start.input)) number += 1;
  }
  return runs[number];
}

type AnswerRequest = ChatRequest & { readonly message: UiMessage; readonly sessionId: string };

/** Resumes a waiting run with the answers in the message. */
async function resumeRun(
  { message, sessionId, caller }: AnswerRequest,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { store, engine } = deployment;
  const run = await findLastRun(store, sessionId);
  if (!run || run.state === "ended") throw createNoAnswerError();
  await setAbandoned(store, sessionId, undefined);
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

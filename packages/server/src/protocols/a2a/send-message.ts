import { createHash } from "node:crypto";
import { AgentError } from "capstan";
import { getScope } from "capstan/sessions";
import { sendToRun } from "../../runs/send-to-run.ts";
import { startRun } from "../../runs/start-run.ts";
import { loadRunView } from "../../views/run-view.ts";
import { parseAnswers } from "./answers.ts";
import {
  type A2aContext,
  type FollowedTask,
  followTask,
  locateTask,
  type TaskLocation,
} from "./follow-task.ts";
import { readMessageText, toRunInput } from "./parts.ts";
import type { SendParams } from "./request.ts";

type SentMessage = SendParams["message"];

/** Starts a task, answers a waiting one, or steers a running one. */
export async function sendMessage(asking: A2aContext, message: SentMessage): Promise<FollowedTask> {
  return message.taskId === undefined
    ? startTask(asking, message)
    : continueTask(asking, message, await locateTask(asking, message.taskId));
}

async function startTask(asking: A2aContext, message: SentMessage): Promise<FollowedTask> {
  const { deployment, caller, agent } = asking;
  const { contextId: sessionId } = message;
  const key = asking.key ?? computeMessageKey(message, [caller.scope, agent ?? "", sessionId ?? ""]);
  if (sessionId !== undefined) await assertContext(asking, sessionId);
  const input = toRunInput(message.parts, deployment.clientProvenance);
  const { isNew, state, ...place } = await startRun(deployment, caller, { input, agent, sessionId, key });
  return followTask(asking, place, isNew && state === "started" ? "start" : "now");
}

async function assertContext(asking: A2aContext, contextId: string): Promise<void> {
  const { store } = asking.deployment;
  if (getScope(contextId) === asking.caller.scope && (await store.getSession(contextId)) !== undefined)
    return;
  throw new AgentError("not_found", `Context not found: "${contextId}". Omit it to start a new one.`);
}

async function continueTask(
  asking: A2aContext,
  message: SentMessage,
  place: TaskLocation,
): Promise<FollowedTask> {
  const { deployment, caller } = asking;
  const { runId, sessionId } = place;
  const { parts, contextId, metadata } = message;
  if (contextId !== undefined && contextId !== sessionId)
    throw new AgentError("invalid_input", `Task "${runId}" does not belong to context "${contextId}".`);
  const { state, pending } = await loadRunView(deployment, runId);
  if (state === "ended")
    throw new AgentError("run_ended", `Task "${runId}" has ended. Start another one in its context.`);
  const key = computeMessageKey(message, [runId]);
  const digest = typeof metadata?.digest === "string" ? metadata.digest : undefined;
  if (pending.length === 0)
    await sendToRun(deployment, { caller, runId, key }, { type: "steer", text: readMessageText(parts) });
  else
    for (const answer of parseAnswers({ parts, digest }, pending))
      await sendToRun(deployment, { caller, runId, key: `${key}/${answer.callId}` }, answer);
  return followTask(asking, place, "now");
}

/** Derives the key from the message id, so that a repeated message counts once. */
function computeMessageKey({ messageId }: SentMessage, where: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["a2a", ...where, messageId]))
    .digest("base64url");
}

import { createHash } from "node:crypto";
import { AgentError } from "capstan";
import { getScope } from "capstan/sessions";
import { tellRun } from "../../runs/send-to-run.ts";
import { startRun } from "../../runs/start-run.ts";
import { runView } from "../../views/run-view.ts";
import { answersIn } from "./answers.ts";
import { type A2aAsking, type FollowedTask, followTask, placeOf, type TaskPlace } from "./follow-task.ts";
import { contentOf, wordsIn } from "./parts.ts";
import type { SendParams } from "./request.ts";

type Sent = SendParams["message"];

/** Does what a message asks for: begins a task, answers one that waits, or says something to one that is at work. */
export async function sendMessage(asking: A2aAsking, message: Sent): Promise<FollowedTask> {
  return message.taskId === undefined
    ? begin(asking, message)
    : goOn(asking, message, await placeOf(asking, message.taskId));
}

async function begin(asking: A2aAsking, message: Sent): Promise<FollowedTask> {
  const { deployment, caller, agent } = asking;
  const { contextId: sessionId } = message;
  const key = asking.key ?? keyOf(message, [caller.scope, agent ?? "", sessionId ?? ""]);
  if (sessionId !== undefined) await assertContext(asking, sessionId, key);
  const input = contentOf(message.parts);
  const { isNew, ...place } = await startRun(deployment, caller, { input, agent, sessionId, key });
  return followTask(asking, place, isNew ? "start" : "now");
}

/** One that is at work says so at once: with a key, `startRun` would first wait for whoever sends the same message. */
async function assertContext(asking: A2aAsking, contextId: string, key: string): Promise<void> {
  const { store } = asking.deployment;
  if (getScope(contextId) !== asking.caller.scope || (await store.getSession(contextId)) === undefined)
    throw new AgentError("not_found", `There is no context "${contextId}": leave it out to begin one.`);
  const runs = await store.listRuns(contextId);
  const open = runs.find(({ state }) => state !== "ended");
  if (!open || runs.some(({ runId }) => runId === `run_${key}`)) return;
  const message = `The context "${contextId}" has a task that is not over, "${open.runId}": answer it, wait for its end, or cancel it.`;
  throw new AgentError("session_busy", message);
}

async function goOn(asking: A2aAsking, message: Sent, place: TaskPlace): Promise<FollowedTask> {
  const { deployment, caller } = asking;
  const { runId, sessionId } = place;
  const { parts, contextId, metadata } = message;
  if (contextId !== undefined && contextId !== sessionId)
    throw new AgentError("invalid_input", `The task "${runId}" is not of the context "${contextId}".`);
  const { state, pending } = await runView(deployment, runId);
  if (state === "ended")
    throw new AgentError("run_ended", `The task "${runId}" has ended: begin another one in its context.`);
  const key = keyOf(message, [runId]);
  const digest = typeof metadata?.digest === "string" ? metadata.digest : undefined;
  if (pending.length === 0)
    await tellRun(deployment, { caller, runId, key }, { type: "steer", text: wordsIn(parts) });
  else
    for (const answer of answersIn({ parts, digest }, pending))
      await tellRun(deployment, { caller, runId, key: `${key}/${answer.callId}` }, answer);
  return followTask(asking, place, "now");
}

/** The same message, sent again, counts once. */
function keyOf({ messageId }: Sent, where: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["a2a", ...where, messageId]))
    .digest("base64url");
}

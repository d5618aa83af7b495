import { createHash } from "node:crypto";
import { AgentError } from "capstan";
import { scopeOf } from "capstan/sessions";
import { runView } from "../runs/run-view.ts";
import { startRun } from "../runs/start-run.ts";
import { tellRun } from "../runs/tell-run.ts";
import { answersIn } from "./a2a-answers.ts";
import { type A2aAsking, type FollowedTask, followTask, placeOf, type TaskPlace } from "./a2a-follow.ts";
import { contentOf, wordsIn } from "./a2a-parts.ts";
import type { SendParams } from "./a2a-request.ts";

type Sent = SendParams["message"];

/** Does what a message asks for: begins a task, answers one that waits, or says something to one that is at work. */
export async function sendMessage(asking: A2aAsking, message: Sent): Promise<FollowedTask> {
  return message.taskId === undefined
    ? begin(asking, message)
    : goOn(asking, message, await placeOf(asking, message.taskId));
}

async function begin(asking: A2aAsking, message: Sent): Promise<FollowedTask> {
  const { deployment, caller, agent } = asking;
  const { contextId } = message;
  if (contextId !== undefined) await assertContext(asking, contextId);
  const { isNew, ...place } = await startRun(deployment, caller, {
    input: contentOf(message.parts),
    agent,
    sessionId: contextId,
    key: asking.key ?? keyOf(message, [caller.scope, agent ?? "", contextId ?? ""]),
  });
  return followTask(asking, place, isNew ? "start" : "now");
}

async function assertContext({ deployment, caller }: A2aAsking, contextId: string): Promise<void> {
  const isTheirs =
    scopeOf(contextId) === caller.scope && (await deployment.store.info(contextId)) !== undefined;
  if (isTheirs) return;
  const message = `There is no context "${contextId}": leave it out to begin one.`;
  throw new AgentError("not_found", message);
}

async function goOn(asking: A2aAsking, message: Sent, place: TaskPlace): Promise<FollowedTask> {
  const { deployment } = asking;
  const { runId, sessionId } = place;
  const { parts, contextId, metadata } = message;
  if (contextId !== undefined && contextId !== sessionId)
    throw new AgentError("invalid_input", `The task "${runId}" is not of the context "${contextId}".`);
  const { state, pending } = await runView(deployment, runId);
  if (state === "ended")
    throw new AgentError("run_ended", `The task "${runId}" has ended: begin another one in its context.`);
  const key = keyOf(message, [runId]);
  const digest = typeof metadata?.digest === "string" ? metadata.digest : undefined;
  if (pending.length === 0) await tellRun(deployment, runId, { type: "steer", key, text: wordsIn(parts) });
  else
    for (const answer of answersIn({ parts, digest }, pending))
      await tellRun(deployment, runId, { ...answer, key: `${key}/${answer.callId}` });
  return followTask(asking, place, "now");
}

/** The same message, sent again, counts once. */
function keyOf({ messageId }: Sent, where: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["a2a", ...where, messageId]))
    .digest("base64url");
}

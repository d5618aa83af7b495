import type { Agent } from "capstan";
import type { Caller } from "../../access/caller.ts";
import type { Deployment } from "../../deployment.ts";
import { chosenAgent, keepToolset } from "../../runs/agent-resolver.ts";
import { newSessionId, startRun } from "../../runs/start-run.ts";
import { forkSession } from "../../sessions/create-session.ts";
import type { ChatMessage } from "../chat-messages.ts";
import { type ClientWishes, clientAgent } from "../client-agent.ts";
import { clientHistory } from "../client-history.ts";
import { messagesOf } from "./input-items.ts";
import type { ResponsesRequest } from "./request.ts";
import { type FollowedLeg, followLeg, functionsOf, type KeptLeg, restsOf } from "./segments.ts";

/** A response that somebody asks for. */
export type ResponseAsked = {
  readonly body: ResponsesRequest;
  readonly caller: Caller;
  readonly key: string | undefined;
};

/** The leg that a request goes on from: the one it names, or the last one of a conversation. */
export async function previousLeg(
  { runId, leg = 1, sessionId }: ResponsesRequest,
  { store }: Deployment,
): Promise<KeptLeg | undefined> {
  if (runId !== undefined) return { runId, leg, sessionId: (await store.findSession(runId)) ?? "" };
  const last = sessionId === undefined ? undefined : (await store.listRuns(sessionId)).at(-1);
  if (!last) return undefined;
  const rests = restsOf(await store.read(last.sessionId), last.runId);
  return { ...last, leg: last.state === "waiting" ? rests : rests + 1 };
}

/** Starts a run that is kept, behind the leg that the request goes on from. */
export async function startedLeg(
  { body, caller, key }: ResponseAsked,
  previous: KeptLeg | undefined,
  deployment: Deployment,
): Promise<FollowedLeg> {
  const { agent, model } = await chosenAgent(body.model, deployment);
  const wishes = wishesOf(body, caller);
  const suffix = await suffixFor(await deployment.agent(agent, model), wishes, deployment);
  const input = { history: clientHistory(messagesIn(body, caller)) };
  const sessionId =
    body.sessionId ??
    (previous ? await sessionBehind(previous, { caller, key }, deployment) : newSessionId(caller.scope, key));
  return followLeg(deployment, sessionId, async () => {
    const policy = body.demandsTool ? { requireToolFirst: true } : undefined;
    const request = { agent: `${agent}${suffix}`, model, sessionId, input, policy, key };
    const { runId } = await startRun(deployment, caller, request);
    return { runId, leg: 1 };
  });
}

/** What the name of the agent must end with to be as the client wants it. */
async function suffixFor(agent: Agent, wishes: ClientWishes, { store }: Deployment): Promise<string> {
  const { tools = [], output, instructions } = wishes;
  const isPlain = tools.length === 0 && output === undefined && instructions === undefined;
  if (isPlain && functionsOf(agent).size === 0) return "";
  clientAgent(agent, wishes); // refuses what cannot be
  return keepToolset(store, wishes);
}

/** The session of a leg, or, when the conversation has gone on behind it, a fork from there. */
async function sessionBehind(
  { runId, sessionId }: KeptLeg,
  { caller, key }: Omit<ResponseAsked, "body">,
  deployment: Deployment,
): Promise<string> {
  const { store } = deployment;
  if ((await store.listRuns(sessionId)).at(-1)?.runId === runId) return sessionId;
  const end = (await store.read(sessionId)).findLast((fact) => fact.runId === runId);
  const { made } = await forkSession(deployment, { caller, key }, { sessionId, at: end?.seq ?? 0 });
  return made;
}

/** Only those who may change agents give instructions; from others they are words like all that they say. */
export function wishesOf(
  { tools, output, instructions }: ResponsesRequest,
  { isAdmin }: Caller,
): ClientWishes {
  return { tools, output, instructions: isAdmin ? instructions : undefined };
}

/** What is said to the agent. */
export function messagesIn(
  { items, instructions }: ResponsesRequest,
  { isAdmin }: Caller,
): readonly ChatMessage[] {
  const messages = messagesOf(items);
  if (isAdmin || !instructions) return messages;
  return [{ role: "user" as const, content: instructions }, ...messages];
}

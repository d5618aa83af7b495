import { type Agent, AgentError, type Entry } from "capstan";
import { loadRunFacts, subscribe } from "capstan/sessions";
import type { Caller } from "../../access/caller.ts";
import { toRunOptions } from "../../access/request-settings.ts";
import type { Deployment } from "../../deployment.ts";
import { resolveModelId, storeToolset } from "../../runs/agent-resolver.ts";
import { createSessionId, startRun } from "../../runs/start-run.ts";
import { forkSession } from "../../sessions/create-session.ts";
import type { ChatMessage } from "../chat-messages.ts";
import { type AgentOverrides, createClientAgent } from "../client-agent.ts";
import { readClientHistory } from "../client-history.ts";
import { toChatMessages } from "./input-items.ts";
import type { ResponsesRequest } from "./request.ts";
import {
  countStoredSuspensions,
  type FollowedSegment,
  followSegment,
  listClientTools,
  type StoredSegment,
} from "./segments.ts";

export type CreateResponse = {
  readonly body: ResponsesRequest;
  readonly caller: Caller;
  readonly key: string | undefined;
};

/** Returns the segment that a request continues: the given one, or the last one of the conversation. */
export async function findPreviousSegment(
  { runId, segment = 1, sessionId }: ResponsesRequest,
  { store }: Deployment,
): Promise<StoredSegment | undefined> {
  if (runId !== undefined) return { runId, segment, sessionId: (await store.findSession(runId)) ?? "" };
  const last = sessionId === undefined ? undefined : (await store.listRuns(sessionId, 1)).at(-1);
  if (!last) return undefined;
  const rests = await countStoredSuspensions(store, last.runId);
  return { ...last, segment: last.state === "waiting" ? rests : rests + 1 };
}

/** Starts a stored run after the previous segment. */
export async function startSegment(
  { body, caller, key }: CreateResponse,
  previous: StoredSegment | undefined,
  deployment: Deployment,
): Promise<FollowedSegment> {
  if (previous) await assertAnswered(previous, deployment);
  const { agent, model } = await resolveModelId(body.model, deployment);
  const wishes = getAgentOverrides(body, caller);
  const suffix = await resolveAgentSuffix(await deployment.resolveAgent(agent, model), wishes, deployment);
  const input = { history: readInputItems(body, caller, deployment) };
  const sessionId =
    body.sessionId ??
    (previous
      ? await resolveSession(previous, { caller, key }, deployment)
      : createSessionId(caller.scope, key));
  return followSegment(deployment, sessionId, async () => {
    const { settings, ...requested } = toRunOptions(body.settings, deployment.settingsLimits);
    const policy = { ...requested.policy, ...(body.requiresTool && { requireToolFirst: true }) };
    const request = { agent: `${agent}${suffix}`, model, sessionId, input, settings, policy, key };
    const { runId, state } = await startRun(deployment, caller, request);
    if (state === "queued") await waitForStart(deployment, runId);
    return {
      runId,
      segment: state === "steered" ? (await countStoredSuspensions(deployment.store, runId)) + 1 : 1,
    };
  });
}

/** A client that continues a response knows the calls it waits for. Its message would wait for the client itself. */
async function assertAnswered({ runId }: StoredSegment, { store }: Deployment): Promise<void> {
  if ((await store.findRun(runId))?.state !== "waiting") return;
  const message = "The response waits for the outputs or approvals of its calls. Send them first.";
  throw new AgentError("session_busy", message);
}

/** A response describes a run that has started. */
async function waitForStart({ store, shutdownSignal }: Deployment, runId: string): Promise<void> {
  for await (const _ of subscribe(store, { runId }, { signal: shutdownSignal })) return;
}

/** Returns the suffix for the agent's name that selects the client's overrides. */
async function resolveAgentSuffix(
  agent: Agent,
  wishes: AgentOverrides,
  { store }: Deployment,
): Promise<string> {
  const { tools = [], output, instructions } = wishes;
  const isPlain = tools.length === 0 && output === undefined && instructions === undefined;
  if (isPlain && listClientTools(agent).size === 0) return "";
  createClientAgent(agent, wishes); // throws for invalid overrides
  return storeToolset(store, wishes);
}

/** Returns the session of the segment, or a fork if the conversation has continued after it. */
async function resolveSession(
  { runId, sessionId }: StoredSegment,
  { caller, key }: Omit<CreateResponse, "body">,
  deployment: Deployment,
): Promise<string> {
  const { store } = deployment;
  if ((await store.listRuns(sessionId, 1)).at(-1)?.runId === runId) return sessionId;
  const end = (await loadRunFacts(store, runId)).findLast((fact) => fact.runId === runId);
  const { value: made } = await forkSession(deployment, { caller, key }, { sessionId, at: end?.seq ?? 0 });
  return made;
}

/** Only admins can set instructions; for others they are a system message. */
export function getAgentOverrides(
  { tools, output, instructions }: ResponsesRequest,
  { isAdmin }: Caller,
): AgentOverrides {
  return { tools, output, instructions: isAdmin ? instructions : undefined };
}

/** Converts the new input of a request to entries. */
export function readInputItems(
  { items, instructions, tools }: ResponsesRequest,
  caller: Caller,
  deployment: Deployment,
): readonly Entry[] {
  const system: ChatMessage = { role: "system", content: instructions ?? "" };
  const messages = [...(caller.isAdmin ? [] : [system]), ...toChatMessages(items)];
  return readClientHistory(messages, { caller, deployment, tools });
}

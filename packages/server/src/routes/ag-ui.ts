import { createHash } from "node:crypto";
import { AgentError, type Event } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { type AgUiStream, createAgUiStream, formatAgUiFrame } from "../protocols/ag-ui/ag-ui-stream.ts";
import {
  type AgUiInput,
  agUiRequest,
  agUiStopRequest,
  getCallAnswers,
  getKnownCallIds,
  getNewestInput,
  isResume,
} from "../protocols/ag-ui/request.ts";
import { createClientAgent, isServerTool } from "../protocols/client-agent.ts";
import { toAgentError, toClientError } from "../protocols/client-error.ts";
import { connectToRun, setAbandoned, stopAbandonedRun } from "../runs/abandoned-runs.ts";
import { storeToolset } from "../runs/agent-resolver.ts";
import { sendToRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import {
  findLastRun,
  findLastWait,
  findThreadSession,
  readUntilSuspended,
  stopThread,
  type Thread,
} from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";
import { onDisconnect } from "./schemas.ts";

const agentName = z.string().min(1).max(200).optional();

export const agUiRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/ag-ui",
    summary:
      "Run an agent over AG-UI. The server keeps the history in a session derived from the thread id. Only the newest message is used, plus the application's `context` and `state`, which are not the user's words, and results and answers that the run waits for.",
    query: z.strictObject({ agent: agentName, model: agentName, onDisconnect }),
    body: agUiRequest,
    startsWork: true,
    responses: {
      200: {
        description: "Events of the run. The headers `X-Run-Id` and `X-Session-Id` identify it.",
        type: "text/event-stream",
      },
    },
    async handle(
      { body: { input }, query: { onDisconnect: action, ...query }, caller, request },
      deployment,
    ) {
      const release = deployment.quota.acquire(caller, "streams");
      try {
        const sessionId = await findThreadSession(deployment.store, getThread(caller, input.threadId));
        const segment = isResume(input)
          ? await resumeThreadRun({ input, sessionId }, caller, deployment)
          : await startThreadRun({ input, sessionId, ...query }, caller, deployment);
        const headers = { "x-run-id": segment.runId, "x-session-id": segment.sessionId };
        return streamFrames({
          ...connectToRun(deployment, segment, { onDisconnect: action, release }),
          frames: streamAgUiFrames(segment, { input, caller, deployment }),
          clientSignal: request.signal,
          headers,
        });
      } catch (thrown) {
        release();
        throw thrown;
      }
    },
  }),
  defineRoute({
    method: "POST",
    path: "/ag-ui/{threadId}/stop",
    summary:
      "Stop a run of a thread. Its partial answer stays in the history. Without `runId`, the current run is stopped.",
    params: z.strictObject({ threadId: z.string().min(1).max(200) }),
    body: agUiStopRequest,
    responses: {
      200: { description: "The run has ended, now or before.", schema: z.strictObject({}) },
    },
    async handle({ params: { threadId }, body, caller }, deployment) {
      const thread = getThread(caller, threadId);
      const sessionId = await findThreadSession(deployment.store, thread);
      const runId = body.run === undefined ? undefined : `run_${computeRunKey(sessionId, body.run)}`;
      await stopThread(deployment, thread, runId);
      return Response.json({});
    },
  }),
];

function getThread({ scope }: Caller, threadId: string): Thread {
  return { protocol: "ag-ui", scope, id: threadId };
}

/** A run to stream, the position to start from, and the calls that the client answered. */
type FollowedRun = {
  readonly runId: string;
  readonly sessionId: string;
  readonly after?: number;
  readonly answered?: readonly string[];
};

type ThreadRequest = {
  readonly input: AgUiInput;
  readonly sessionId: string;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
};

/** Uses the client's run id as the key, so that a repeated request finds the first run. */
async function startThreadRun(
  { input, sessionId, agent, model }: ThreadRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<FollowedRun> {
  const key = computeRunKey(sessionId, input.runId);
  await stopAbandonedRun(deployment, sessionId, key);
  const name = await resolveAgentName(input, agent, deployment);
  const newest = getNewestInput(input, deployment.clientProvenance);
  const request = { key, sessionId, input: newest, agent: name, model };
  const started = await startRun(deployment, caller, request);
  if (!started.isNew) await setAbandoned(deployment.store, sessionId, undefined);
  return started;
}

function computeRunKey(sessionId: string, clientRunId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, clientRunId]))
    .digest("base64url");
}

/** Returns the name of the agent including the request's tools. The agent's own client-side tools need no suffix. */
async function resolveAgentName(
  { tools }: AgUiInput,
  name: string | undefined,
  deployment: Deployment,
): Promise<string | undefined> {
  const agent = await deployment.resolveAgent(name);
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  const isOwn = (wanted: string) => own.some((tool) => tool.name === wanted && !isServerTool(tool));
  if (tools.every((tool) => isOwn(tool.name))) return name;
  createClientAgent(agent, { tools }); // throws for invalid tools
  return `${agent.name}${await storeToolset(deployment.store, tools)}`;
}

/** Resumes a waiting run with the answers in the request. */
async function resumeThreadRun(
  { input, sessionId }: ThreadRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<FollowedRun> {
  const { store, engine } = deployment;
  const run = await findLastRun(store, sessionId);
  if (!run || run.state === "ended") throw createEmptyRequestError();
  await setAbandoned(store, sessionId, undefined);
  const { pending } = await engine.getResult(run.runId);
  const after = await findLastWait(store, run);
  // The same answer may arrive twice while the run is already continuing.
  if (run.state === "active" && pending.length === 0) return { ...run, after };
  const answers = getCallAnswers(input, pending);
  if (answers.length === 0) throw createEmptyRequestError();
  for (const answer of answers) await sendToRun(deployment, { caller, runId: run.runId }, answer);
  const results = answers.flatMap(({ type, callId }) => (type === "result" ? [callId] : []));
  return { ...run, after, answered: results };
}

function createEmptyRequestError(): AgentError {
  const message = "The request contains no answer that this thread waits for.";
  return new AgentError("approval_conflict", message);
}

type FrameContext = { readonly input: AgUiInput; readonly caller: Caller; readonly deployment: Deployment };

/** The run continues when the client disconnects. */
async function* streamAgUiFrames(
  segment: FollowedRun,
  showing: FrameContext,
): AsyncGenerator<string, void, undefined> {
  const { input, caller, deployment } = showing;
  const stream = createAgUiStream({
    threadId: input.threadId,
    runId: input.runId,
    shown: getKnownCallIds(input),
    answered: segment.answered ?? [],
    clientTools: new Set(input.tools.map(({ name }) => name)),
    formatError: (error) => toClientError(error, caller, segment.runId),
  });
  const events = readUntilSuspended(deployment, segment);
  try {
    yield* encodeEvents(stream, events);
    const { pending, status, until } = await deployment.engine.getResult(segment.runId);
    const isLeft =
      deployment.shutdownSignal.aborted &&
      status === "waiting" &&
      (pending.length === 0 || until !== undefined);
    if (!isLeft) yield stream.end(pending).map(formatAgUiFrame).join("");
    else yield formatRunError("draining", "The server is shutting down. The run continues.");
  } catch (thrown) {
    const { code, message } = toAgentError(thrown, deployment.report);
    yield formatRunError(code, message);
  }
}

async function* encodeEvents(
  stream: AgUiStream,
  events: AsyncIterable<Event>,
): AsyncGenerator<string, void, undefined> {
  yield stream.begin().map(formatAgUiFrame).join("");
  for await (const event of events) {
    const text = stream.encode(event).map(formatAgUiFrame).join("");
    if (text) yield text;
  }
}

function formatRunError(code: string, message: string): string {
  return formatAgUiFrame({ type: "RUN_ERROR", code, message });
}

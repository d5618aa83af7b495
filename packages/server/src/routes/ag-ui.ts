import { createHash } from "node:crypto";
import { AgentError, type Event } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { frameStream } from "../http/frame-stream.ts";
import { type AgUiStream, agUiFrame, agUiStream } from "../protocols/ag-ui/ag-ui-stream.ts";
import {
  type AgUiInput,
  agUiRequest,
  answersTo,
  callsSeen,
  isAnswering,
  newestInput,
} from "../protocols/ag-ui/request.ts";
import { clientAgent } from "../protocols/client-agent.ts";
import { shownError, shownThrown } from "../protocols/client-error.ts";
import { keepToolset } from "../runs/agent-resolver.ts";
import { tellRun } from "../runs/send-to-run.ts";
import { startRun } from "../runs/start-run.ts";
import { lastRest, lastRun, sessionOfThread, untilRest } from "../runs/threads.ts";
import { defineRoute, type Route } from "./route.ts";

const agentName = z.string().min(1).max(200).optional();

/** AG-UI 1.0. */
export const agUiRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/ag-ui",
    summary:
      "Run an agent as a client of AG-UI does. The history is kept here, in a session that is made from the thread's id: of the messages, only the newest is taken, with the results and answers that the run waits for.",
    query: z.strictObject({ agent: agentName, model: agentName }),
    body: agUiRequest,
    beginsWork: true,
    answers: {
      200: {
        description:
          "The events of the run. The headers `X-Run-Id` and `X-Session-Id` say which run it is here.",
        type: "text/event-stream",
      },
    },
    async handle({ body: { input }, query, caller }, deployment) {
      const onClose = deployment.allowance.take(caller, "streams");
      try {
        const { store } = deployment;
        const thread = { protocol: "ag-ui", scope: caller.scope, id: input.threadId };
        const sessionId = await sessionOfThread(store, thread);
        const leg = isAnswering(input)
          ? await answered({ input, sessionId }, caller, deployment)
          : await asked({ input, sessionId, ...query }, caller, deployment);
        const headers = { "x-run-id": leg.runId, "x-session-id": leg.sessionId };
        return frameStream({ frames: framesOf(leg, { input, caller, deployment }), onClose, headers });
      } catch (thrown) {
        onClose();
        throw thrown;
      }
    },
  }),
];

/** A run of ours to be read, from where, and what of it the client has said itself. */
type Leg = {
  readonly runId: string;
  readonly sessionId: string;
  readonly after?: number;
  readonly answered?: readonly string[];
};

type Asking = {
  readonly input: AgUiInput;
  readonly sessionId: string;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
};

/** The client's id of its run is the key: the same request, sent twice, finds the run of the first. */
async function asked(
  { input, sessionId, agent, model }: Asking,
  caller: Caller,
  deployment: Deployment,
): Promise<Leg> {
  const key = createHash("sha256")
    .update(JSON.stringify([sessionId, input.runId]))
    .digest("base64url");
  const name = await withTools(input, agent, deployment);
  return startRun(deployment, caller, { key, sessionId, input: newestInput(input), agent: name, model });
}

/** The name of the agent that also has the tools of the request. Those that it leaves to any client are its own. */
async function withTools(
  { tools }: AgUiInput,
  name: string | undefined,
  deployment: Deployment,
): Promise<string | undefined> {
  const agent = await deployment.agent(name);
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  const isOwn = (wanted: string) => own.some((tool) => tool.name === wanted && tool.execute === undefined);
  if (tools.every((tool) => isOwn(tool.name))) return name;
  clientAgent(agent, { tools }); // refuses what cannot be
  return `${agent.name}${await keepToolset(deployment.store, tools)}`;
}

/** Goes on with a run that has asked for something. */
async function answered({ input, sessionId }: Asking, caller: Caller, deployment: Deployment): Promise<Leg> {
  const { store, engine } = deployment;
  const run = await lastRun(store, sessionId);
  if (!run || run.state === "ended") throw nothingAsked();
  const { pending } = await engine.getResult(run.runId);
  const after = await lastRest(store, run);
  // The same answer may come twice: the run is at work on it.
  if (run.state === "active" && pending.length === 0) return { ...run, after };
  const answers = answersTo(input, pending);
  if (answers.length === 0) throw nothingAsked();
  for (const answer of answers) await tellRun(deployment, { caller, runId: run.runId }, answer);
  const results = answers.flatMap(({ type, callId }) => (type === "result" ? [callId] : []));
  return { ...run, after, answered: results };
}

function nothingAsked(): AgentError {
  const message =
    "Nothing in this request answers what the thread has asked: only what it waits for can be answered.";
  return new AgentError("approval_conflict", message);
}

type Showing = { readonly input: AgUiInput; readonly caller: Caller; readonly deployment: Deployment };

/** Whoever goes away leaves the run as it is. */
async function* framesOf(leg: Leg, showing: Showing): AsyncGenerator<string, void, undefined> {
  const { input, caller, deployment } = showing;
  const stream = agUiStream({
    threadId: input.threadId,
    runId: input.runId,
    shown: callsSeen(input),
    answered: leg.answered ?? [],
    clientTools: new Set(input.tools.map(({ name }) => name)),
    showError: (error) => shownError(error, caller, leg.runId),
  });
  const events = untilRest(deployment, leg);
  try {
    yield* written(stream, events);
    const { pending, status, until } = await deployment.engine.getResult(leg.runId);
    const isLeft =
      deployment.leaving.aborted && status === "waiting" && (pending.length === 0 || until !== undefined);
    if (!isLeft) yield stream.end(pending).map(agUiFrame).join("");
    else yield failure("draining", "The server is about to leave: the run goes on.");
  } catch (thrown) {
    const { code, message } = shownThrown(thrown, deployment.report);
    yield failure(code, message);
  }
}

async function* written(
  stream: AgUiStream,
  events: AsyncIterable<Event>,
): AsyncGenerator<string, void, undefined> {
  yield stream.begin().map(agUiFrame).join("");
  for await (const event of events) {
    const text = stream.hear(event).map(agUiFrame).join("");
    if (text) yield text;
  }
}

function failure(code: string, message: string): string {
  return agUiFrame({ type: "RUN_ERROR", code, message });
}

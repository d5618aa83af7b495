import type { Agent, Result } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { frameStream } from "../http/frame-stream.ts";
import { readCallId } from "../protocols/call-ids.ts";
import {
  type CompletionInfo,
  completion,
  endingOf,
  type Said,
  said,
} from "../protocols/chat-completions/completion.ts";
import { completionStream } from "../protocols/chat-completions/completion-stream.ts";
import {
  type CompletionRequest,
  completionRequest,
  declaredTools,
  demandsTool,
  outputOf,
} from "../protocols/chat-completions/request.ts";
import { wordsOf } from "../protocols/chat-messages.ts";
import { clientAgent } from "../protocols/client-agent.ts";
import { shownError, shownThrown } from "../protocols/client-error.ts";
import { clientHistory } from "../protocols/client-history.ts";
import { openaiProblem, openaiStatus } from "../protocols/openai-error.ts";
import { chosenAgent, unknownAgentModel } from "../runs/agent-resolver.ts";
import type { PassingLeg, PassingResults } from "../runs/ephemeral-runs.ts";
import { defineRoute, type Route } from "./route.ts";

const modelView = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

/** Agents as models, for every client that speaks to OpenAI. */
export const openaiRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/v1/models",
    summary: "The agents, as models; `agent@model` is an agent with another model.",
    answers: {
      200: {
        description: "All of them.",
        schema: z.object({ object: z.literal("list"), data: z.array(modelView) }),
      },
    },
    handle: async (_, deployment) =>
      Response.json({ object: "list", data: (await modelNames(deployment)).map(modelOf) }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/models/{model}",
    summary: "One of the models.",
    params: z.strictObject({ model: z.string().max(400) }),
    answers: { 200: { description: "It is there.", schema: modelView } },
    async handle({ params: { model } }, deployment) {
      if (!(await modelNames(deployment)).includes(model)) throw unknownAgentModel(model);
      return Response.json(modelOf(model));
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Ask an agent as one asks a model of OpenAI. The client keeps the history.",
    body: completionRequest,
    beginsWork: true,
    answers: {
      200: { description: "The answer, or its chunks as `text/event-stream`.", schema: z.looseObject({}) },
    },
    async handle({ body, caller, request }, deployment) {
      const info = { id: `chatcmpl-${crypto.randomUUID()}`, created: now(), model: body.model };
      const asked = { body, caller, info, request };
      return body.stream ? streamed(asked, deployment) : whole(asked, deployment);
    },
  }),
];

const now = () => Math.floor(Date.now() / 1000);

function modelOf(id: string): z.output<typeof modelView> {
  return { id, object: "model", created: 0, owned_by: "capstan" };
}

async function modelNames({ agents, models }: Deployment): Promise<readonly string[]> {
  const names = (await agents.list()).map(({ name }) => name);
  return names.flatMap((name) => [name, ...[...models.keys()].map((model) => `${name}@${model}`)]);
}

async function agentOf(id: string, deployment: Deployment): Promise<Agent> {
  const { agent, model } = await chosenAgent(id, deployment);
  return deployment.agent(agent, model);
}

type AskedFor = {
  readonly body: CompletionRequest;
  readonly caller: Caller;
  readonly info: CompletionInfo;
  readonly request: Request;
};

async function streamed(
  { body, caller, info, request }: AskedFor,
  deployment: Deployment,
): Promise<Response> {
  const onClose = deployment.allowance.take(caller, "streams");
  try {
    const { leg, told } = await begun(body, caller, deployment);
    abandonedWith(request, leg);
    const frames = completionStream({
      info,
      leg,
      told,
      includeUsage: body.stream_options?.include_usage === true,
      failure: (cause) =>
        openaiProblem(
          "result" in cause ? failureOf(cause.result, caller) : shownThrown(cause.thrown, deployment.report),
        ),
    });
    return frameStream({ frames, onClose, onGone: leg.abandon });
  } catch (thrown) {
    onClose();
    throw thrown;
  }
}

async function whole({ body, caller, info, request }: AskedFor, deployment: Deployment): Promise<Response> {
  const { leg, told } = await begun(body, caller, deployment);
  abandonedWith(request, leg);
  for await (const event of leg.events) told.hear(event);
  const result = await leg.result;
  const ending = endingOf(result, told, leg.declared);
  if (ending) return Response.json(completion(info, told, ending));
  const failure = failureOf(result, caller);
  return Response.json(openaiProblem(failure), { status: openaiStatus(failure.code) });
}

function failureOf({ error, status, text, runId }: Result, caller: Caller) {
  return shownError(error ?? { code: status, message: text }, caller, runId);
}

/** Nobody needs an answer that nobody waits for. */
function abandonedWith({ signal }: Request, { abandon }: PassingLeg): void {
  if (signal.aborted) abandon();
  else signal.addEventListener("abort", abandon, { once: true });
}

type Begun = { readonly leg: PassingLeg; readonly told: Said };

/** Goes on with the run that waits for the results in the request, or begins one with the history in it. */
async function begun(body: CompletionRequest, caller: Caller, deployment: Deployment): Promise<Begun> {
  const tools = declaredTools(body);
  const agent = clientAgent(await agentOf(body.model, deployment), { tools, output: outputOf(body) });
  const entries = clientHistory(body.messages);
  const given = resultsIn(body);
  const told = said({ isFormed: agent.output !== undefined });
  if (given) await deployment.spending.within(caller, {});
  const leg = given && deployment.passing.answer(caller, given);
  if (leg) return { leg, told };
  const policy = demandsTool(body) ? { requireToolFirst: true } : {};
  const declared = new Set(tools.map(({ name }) => name));
  return { leg: await deployment.passing.start(caller, { agent, entries, policy, declared }), told };
}

/** The results at the end of a conversation, when all of them are for calls of one run. */
function resultsIn({ messages }: CompletionRequest): PassingResults | undefined {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const results = new Map<string, string>();
  let run: string | undefined;
  for (const message of messages.slice(last + 1)) {
    if (message.role !== "tool") continue;
    const call = readCallId(message.tool_call_id);
    if (!call || (run !== undefined && run !== call.runId)) return undefined;
    run = call.runId;
    results.set(call.callId, wordsOf(message.content, "A result"));
  }
  return run === undefined ? undefined : { runId: run, results };
}

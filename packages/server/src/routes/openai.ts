import type { Agent, Result } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { readRequestSettings, toRunOptions } from "../access/request-settings.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { parseCallId } from "../protocols/call-ids.ts";
import {
  buildCompletion,
  type CompletionCollector,
  type CompletionInfo,
  computeEnding,
  createCompletionCollector,
} from "../protocols/chat-completions/completion.ts";
import { streamCompletion } from "../protocols/chat-completions/completion-stream.ts";
import {
  type CompletionRequest,
  completionRequest,
  getDeclaredTools,
  getOutputSchema,
  requiresTool,
} from "../protocols/chat-completions/request.ts";
import { joinMessageText } from "../protocols/chat-messages.ts";
import { createClientAgent } from "../protocols/client-agent.ts";
import { toAgentError, toClientError } from "../protocols/client-error.ts";
import { readClientHistory } from "../protocols/client-history.ts";
import { getOpenaiStatus, toOpenaiError } from "../protocols/openai-error.ts";
import { createModelNotFoundError, resolveModelId } from "../runs/agent-resolver.ts";
import type { ClientResults, EphemeralSegment } from "../runs/ephemeral-runs.ts";
import { defineRoute, type Route } from "./route.ts";

const modelView = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});

/** OpenAI-compatible API: agents appear as models. */
export const openaiRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/v1/models",
    summary: "List the agents as models. `agent@model` is an agent with another model.",
    responses: {
      200: {
        description: "The models.",
        schema: z.object({ object: z.literal("list"), data: z.array(modelView) }),
      },
    },
    handle: async (_, deployment) =>
      Response.json({ object: "list", data: (await listModelNames(deployment)).map(toModelView) }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/models/{model}",
    summary: "Get one model.",
    params: z.strictObject({ model: z.string().max(400) }),
    responses: { 200: { description: "The model.", schema: modelView } },
    async handle({ params: { model } }, deployment) {
      if (!(await listModelNames(deployment)).includes(model)) throw createModelNotFoundError(model);
      return Response.json(toModelView(model));
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Create a chat completion with an agent. The client keeps the history.",
    body: completionRequest,
    startsWork: true,
    responses: {
      200: {
        description: "The completion, or its chunks as `text/event-stream`.",
        schema: z.looseObject({}),
      },
    },
    async handle({ body, caller, request }, deployment) {
      const info = { id: `chatcmpl-${crypto.randomUUID()}`, created: getUnixTime(), model: body.model };
      const asked = { body, caller, info, request };
      return body.stream ? respondWithStream(asked, deployment) : respondWithCompletion(asked, deployment);
    },
  }),
];

const getUnixTime = () => Math.floor(Date.now() / 1000);

function toModelView(id: string): z.output<typeof modelView> {
  return { id, object: "model", created: 0, owned_by: "capstan" };
}

async function listModelNames({ agents, models }: Deployment): Promise<readonly string[]> {
  const names = (await agents.list()).map(({ name }) => name);
  return names.flatMap((name) => [name, ...[...models.keys()].map((model) => `${name}@${model}`)]);
}

async function resolveAgentModel(id: string, deployment: Deployment): Promise<Agent> {
  const { agent, model } = await resolveModelId(id, deployment);
  return deployment.resolveAgent(agent, model);
}

type CompletionCall = {
  readonly body: CompletionRequest;
  readonly caller: Caller;
  readonly info: CompletionInfo;
  readonly request: Request;
};

async function respondWithStream(
  { body, caller, info, request }: CompletionCall,
  deployment: Deployment,
): Promise<Response> {
  const onClose = deployment.quota.acquire(caller, "streams");
  try {
    const { segment, collector } = await startOrResume(body, caller, deployment);
    cancelOnDisconnect(request, segment);
    const frames = streamCompletion({
      info,
      segment,
      collector,
      includeUsage: body.stream_options?.include_usage === true,
      formatFailure: (cause) =>
        toOpenaiError(
          "result" in cause
            ? toRunFailure(cause.result, caller)
            : toAgentError(cause.thrown, deployment.report),
        ),
    });
    return streamFrames({ frames, onClose, onDisconnect: segment.cancel });
  } catch (thrown) {
    onClose();
    throw thrown;
  }
}

async function respondWithCompletion(
  { body, caller, info, request }: CompletionCall,
  deployment: Deployment,
): Promise<Response> {
  const { segment, collector } = await startOrResume(body, caller, deployment);
  cancelOnDisconnect(request, segment);
  for await (const event of segment.events) collector.add(event);
  const result = await segment.result;
  const ending = computeEnding(result, collector, segment.declared);
  if (ending) return Response.json(buildCompletion(info, collector, ending));
  const failure = toRunFailure(result, caller);
  return Response.json(toOpenaiError(failure), { status: getOpenaiStatus(failure.code) });
}

function toRunFailure({ error, status, text, runId }: Result, caller: Caller) {
  return toClientError(error ?? { code: status, message: text }, caller, runId);
}

function cancelOnDisconnect({ signal }: Request, { cancel }: EphemeralSegment): void {
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

type StartedCompletion = { readonly segment: EphemeralSegment; readonly collector: CompletionCollector };

/** Resumes the run that waits for the results in the request, or starts a run with the request's history. */
async function startOrResume(
  body: CompletionRequest,
  caller: Caller,
  deployment: Deployment,
): Promise<StartedCompletion> {
  const tools = getDeclaredTools(body);
  const agent = createClientAgent(await resolveAgentModel(body.model, deployment), {
    tools,
    output: getOutputSchema(body),
  });
  const entries = readClientHistory(body.messages, { caller, deployment, tools });
  const given = getToolResults(body);
  const collector = createCompletionCollector({ isFormed: agent.output !== undefined });
  if (given) await deployment.dailyBudget.clampPolicy(caller, {});
  const segment = given && deployment.ephemeralRuns.resume(caller, given);
  if (segment) return { segment, collector };
  const requested = toRunOptions(body.settings, deployment.settingsLimits);
  const settings = readRequestSettings(requested, caller, { agent, ...deployment });
  const policy = { ...requested.policy, ...(requiresTool(body) && { requireToolFirst: true }) };
  const declared = new Set(tools.map(({ name }) => name));
  return {
    segment: await deployment.ephemeralRuns.start(caller, { agent, entries, policy, ...settings, declared }),
    collector,
  };
}

/** Returns the trailing tool results if all of them belong to one run. */
function getToolResults({ messages }: CompletionRequest): ClientResults | undefined {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const results = new Map<string, string>();
  let run: string | undefined;
  for (const message of messages.slice(last + 1)) {
    if (message.role !== "tool") continue;
    const call = parseCallId(message.tool_call_id);
    if (!call || (run !== undefined && run !== call.runId)) return undefined;
    run = call.runId;
    results.set(call.callId, joinMessageText(message.content, "A result"));
  }
  return run === undefined ? undefined : { runId: run, results };
}

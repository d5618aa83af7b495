import { AgentError } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { streamFrames } from "../http/frame-stream.ts";
import { readJsonBody } from "../http/read-body.ts";
import { buildAgentCard, type CardAgent, getAgentPath } from "../protocols/a2a/agent-card.ts";
import type { A2aContext } from "../protocols/a2a/follow-task.ts";
import { a2aMethods, longMethods } from "../protocols/a2a/methods.ts";
import {
  createRpcError,
  parseRpcRequest,
  type RpcError,
  type RpcId,
  type RpcRequest,
  toRpcError,
} from "../protocols/a2a/rpc.ts";
import { type A2aFrame, a2aVersion } from "../protocols/a2a/wire.ts";
import { summarizeAgent } from "../views/server-info.ts";
import { defineRoute, type Route, type RouteRequest } from "./route.ts";

const name = z.strictObject({ name: z.string().min(1).max(200) });
const versionQuery = z.strictObject({ "A2A-Version": z.string().max(20).optional() });
const card = { 200: { description: "As A2A says.", schema: z.looseObject({ name: z.string() }) } };
const responses = {
  200: {
    description:
      "JSON-RPC as A2A 1.0 defines it, including errors; `SendStreamingMessage` and `SubscribeToTask` return a stream.",
    schema: z.looseObject({ jsonrpc: z.literal("2.0") }),
    type: "text/event-stream",
  },
};

/** A2A: a task is a run, its context a session. The protocol validates its own bodies and has its own errors. */
export const a2aRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/.well-known/agent-card.json",
    summary: "The A2A card of the first agent, with the other agents as skills.",
    access: "anyone",
    responses: card,
    handle: ({ request }, deployment) => respondWithCard(request, deployment),
  }),
  defineRoute({
    method: "GET",
    path: "/a2a/{name}/agent-card.json",
    summary: "The A2A card of an agent.",
    access: "anyone",
    params: name,
    responses: card,
    handle: ({ request, params }, deployment) => respondWithCard(request, deployment, params.name),
  }),
  defineRoute({
    method: "POST",
    path: "/a2a",
    summary: "A2A request to the first agent.",
    query: versionQuery,
    responses,
    handle: (asked, deployment) => handleRpc(asked, deployment, undefined),
  }),
  defineRoute({
    method: "POST",
    path: "/a2a/{name}",
    summary: "A2A request to an agent.",
    params: name,
    query: versionQuery,
    responses,
    handle: (asked, deployment) => handleRpc(asked, deployment, asked.params.name),
  }),
];

/** Public cards show only agents defined in code. */
async function respondWithCard(request: Request, deployment: Deployment, agent?: string): Promise<Response> {
  const made = await buildCard(request, deployment, { agent, isPublic: true });
  return Response.json(made, { headers: { "cache-control": "public, max-age=60" } });
}

type CardSelection = { readonly agent: string | undefined; readonly isPublic: boolean };

async function buildCard(
  request: Request,
  deployment: Deployment,
  { agent, isPublic }: CardSelection,
): Promise<object> {
  const listed = await deployment.agents.list();
  const shown = listed.flatMap((one): CardAgent[] => {
    if (one.source !== "coded" && (isPublic || one.problem !== undefined)) return [];
    return [summarizeAgent(deployment, one)];
  });
  const chosen = agent === undefined ? shown[0] : shown.find((one) => one.name === agent);
  if (!chosen) throw new AgentError("unknown_agent", `Unknown agent "${agent}".`);
  const origin = `${new URL(request.url).origin}${deployment.basePath}`;
  return agent === undefined
    ? buildAgentCard({ agent: chosen, others: shown.filter((one) => one !== chosen), origin, path: "/a2a" })
    : buildAgentCard({ agent: chosen, others: [], origin, path: getAgentPath(agent) });
}

type RpcRouteRequest = Pick<
  RouteRequest<unknown, { "A2A-Version"?: string | undefined }, unknown>,
  "caller" | "request" | "endReading" | "key" | "query"
>;

async function handleRpc(
  asked: RpcRouteRequest,
  deployment: Deployment,
  agent: string | undefined,
): Promise<Response> {
  const { request, query } = asked;
  const body = await readRpcBody(request);
  asked.endReading();
  if ("error" in body) return respondError(null, body.error);
  const rpc = parseRpcRequest(body.json);
  if (!rpc) {
    const message = "The body must be one JSON-RPC 2.0 request with an id and a method.";
    return respondError(null, createRpcError("INVALID_REQUEST", message));
  }
  // Without a version the client speaks 0.3, which is incompatible.
  const version = request.headers.get("a2a-version") || query["A2A-Version"] || "0.3";
  if (!/^1\.0(\.\d+)?$/.test(version)) {
    const message = `Unsupported A2A version ${version.slice(0, 20)}. Send \`A2A-Version: ${a2aVersion}\`.`;
    return respondError(rpc.id, createRpcError("VERSION_NOT_SUPPORTED", message));
  }
  try {
    return await callMethod(rpc, { ...asked, deployment, agent });
  } catch (thrown) {
    return respondError(rpc.id, toRpcError(thrown, rpc.method, deployment.report));
  }
}

type MethodCall = RpcRouteRequest & { readonly deployment: Deployment; readonly agent: string | undefined };

async function callMethod({ id, method, params }: RpcRequest, performing: MethodCall): Promise<Response> {
  const { caller, request, key, deployment, agent } = performing;
  if (method === "GetExtendedAgentCard")
    return respondResult(id, await buildCard(request, deployment, { agent, isPublic: false }));
  const perform = Object.hasOwn(a2aMethods, method) ? a2aMethods[method] : undefined;
  if (!perform)
    return respondError(id, createRpcError("METHOD_NOT_FOUND", `Unknown method "${method.slice(0, 100)}".`));
  const release = longMethods.includes(method) ? acquireStream(deployment, caller) : () => undefined;
  const gone = new AbortController();
  const signal = AbortSignal.any([request.signal, gone.signal]);
  const asking: A2aContext = { deployment, caller, agent, key, signal };
  let isStream = false;
  try {
    const outcome = await perform(asking, params);
    if ("error" in outcome) return respondError(id, outcome.error);
    if ("result" in outcome) return respondResult(id, outcome.result);
    isStream = true;
    const frames = formatFrames(outcome.frames, { id, method, report: deployment.report });
    return streamFrames({
      ...{ frames, clientSignal: request.signal, onClose: release },
      onDisconnect: () => gone.abort(),
    });
  } finally {
    if (!isStream) release();
  }
}

/** A response that lasts as long as a run counts as a stream. */
function acquireStream({ quota }: Deployment, caller: Caller): () => void {
  return quota.acquire(caller, "streams");
}

type FrameContext = { readonly id: RpcId; readonly method: string; report(thrown: unknown): string };

async function* formatFrames(
  frames: AsyncGenerator<A2aFrame, void, undefined>,
  { id, method, report }: FrameContext,
): AsyncGenerator<string, void, undefined> {
  const formatLine = (body: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n\n`;
  try {
    for await (const result of frames) yield formatLine({ result });
  } catch (thrown) {
    yield formatLine({ error: toRpcError(thrown, method, report) });
  }
}

type Body = { readonly json: unknown } | { readonly error: RpcError };

async function readRpcBody(request: Request): Promise<Body> {
  try {
    return { json: await readJsonBody(request) };
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.code !== "invalid_input") throw thrown;
    return { error: createRpcError("PARSE_ERROR", thrown.message) };
  }
}

function respondResult(id: RpcId, result: object): Response {
  return Response.json({ jsonrpc: "2.0", id, result });
}

function respondError(id: RpcId, error: RpcError): Response {
  return Response.json({ jsonrpc: "2.0", id, error });
}

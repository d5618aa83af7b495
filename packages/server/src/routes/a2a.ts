import { AgentError } from "capstan";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { frameStream } from "../http/frame-stream.ts";
import { readBody } from "../http/read-body.ts";
import { agentCard, agentPath, type ShownAgent } from "../protocols/a2a/agent-card.ts";
import type { A2aAsking } from "../protocols/a2a/follow-task.ts";
import { a2aMethods, lastingMethods } from "../protocols/a2a/methods.ts";
import {
  type RpcError,
  type RpcId,
  type RpcRequest,
  rpcError,
  rpcRequest,
  thrownError,
} from "../protocols/a2a/rpc.ts";
import { type A2aFrame, a2aVersion } from "../protocols/a2a/wire.ts";
import { type Asked, defineRoute, type Route } from "./route.ts";

const name = z.strictObject({ name: z.string().min(1).max(200) });
const versionQuery = z.strictObject({ "A2A-Version": z.string().max(20).optional() });
const card = { 200: { description: "As A2A says.", schema: z.looseObject({ name: z.string() }) } };
const answers = {
  200: {
    description:
      "As A2A 1.0 says, errors too: JSON-RPC, and for `SendStreamingMessage` and `SubscribeToTask` a stream of it.",
    schema: z.looseObject({ jsonrpc: z.literal("2.0") }),
    type: "text/event-stream",
  },
};

/** Agents for other agents. A task is a run, its context a session. The protocol checks its own bodies and has its own errors. */
export const a2aRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/.well-known/agent-card.json",
    summary: "What A2A clients have to know of the first agent, with the other ones as skills.",
    access: "anyone",
    answers: card,
    handle: ({ request }, deployment) => publicCard(request, deployment),
  }),
  defineRoute({
    method: "GET",
    path: "/a2a/{name}/agent-card.json",
    summary: "What A2A clients have to know of an agent.",
    access: "anyone",
    params: name,
    answers: card,
    handle: ({ request, params }, deployment) => publicCard(request, deployment, params.name),
  }),
  defineRoute({
    method: "POST",
    path: "/a2a",
    summary: "A message of an A2A client to the first agent.",
    query: versionQuery,
    answers,
    handle: (asked, deployment) => answer(asked, deployment, undefined),
  }),
  defineRoute({
    method: "POST",
    path: "/a2a/{name}",
    summary: "A message of an A2A client to an agent.",
    params: name,
    query: versionQuery,
    answers,
    handle: (asked, deployment) => answer(asked, deployment, asked.params.name),
  }),
];

/** Those that are made while the server runs are shown only to its users. */
async function publicCard(request: Request, deployment: Deployment, agent?: string): Promise<Response> {
  const made = await cardOf(request, deployment, { agent, isPublic: true });
  return Response.json(made, { headers: { "cache-control": "public, max-age=60" } });
}

type CardOf = { readonly agent: string | undefined; readonly isPublic: boolean };

async function cardOf(
  request: Request,
  deployment: Deployment,
  { agent, isPublic }: CardOf,
): Promise<object> {
  const listed = await deployment.agents.list();
  const shown = listed.flatMap((one): ShownAgent[] => {
    if (one.source !== "coded" && (isPublic || one.problem !== undefined)) return [];
    const stored = one.source === "coded" ? undefined : one.data.description;
    const { introductions } = deployment;
    const own = Object.hasOwn(introductions, one.name) ? introductions[one.name] : undefined;
    return [{ name: one.name, ...(stored !== undefined && { description: stored }), ...own }];
  });
  const chosen = agent === undefined ? shown[0] : shown.find((one) => one.name === agent);
  if (!chosen) throw new AgentError("unknown_agent", `There is no agent "${agent}" here.`);
  const { origin } = new URL(request.url);
  return agent === undefined
    ? agentCard({ agent: chosen, others: shown.filter((one) => one !== chosen), origin, path: "/a2a" })
    : agentCard({ agent: chosen, others: [], origin, path: agentPath(agent) });
}

type AskedRpc = Pick<
  Asked<unknown, { "A2A-Version"?: string | undefined }, unknown>,
  "caller" | "request" | "key" | "query"
>;

async function answer(asked: AskedRpc, deployment: Deployment, agent: string | undefined): Promise<Response> {
  const { request, query } = asked;
  const body = await bodyOf(request);
  if ("error" in body) return failed(null, body.error);
  const rpc = rpcRequest(body.json);
  if (!rpc) {
    const message = "A request is one JSON-RPC 2.0 object, with an id and a method.";
    return failed(null, rpcError("INVALID_REQUEST", message));
  }
  // Without one it is 0.3, whose messages look otherwise.
  const version = request.headers.get("a2a-version") || query["A2A-Version"] || "0.3";
  if (!/^1\.0(\.\d+)?$/.test(version)) {
    const message = `Version ${version.slice(0, 20)} is not spoken here: send \`A2A-Version: ${a2aVersion}\`.`;
    return failed(rpc.id, rpcError("VERSION_NOT_SUPPORTED", message));
  }
  try {
    return await perform(rpc, { ...asked, deployment, agent });
  } catch (thrown) {
    return failed(rpc.id, thrownError(thrown, rpc.method, deployment.report));
  }
}

type Performing = AskedRpc & { readonly deployment: Deployment; readonly agent: string | undefined };

async function perform({ id, method, params }: RpcRequest, performing: Performing): Promise<Response> {
  const { caller, request, key, deployment, agent } = performing;
  if (method === "GetExtendedAgentCard")
    return succeeded(id, await cardOf(request, deployment, { agent, isPublic: false }));
  const perform = Object.hasOwn(a2aMethods, method) ? a2aMethods[method] : undefined;
  if (!perform)
    return failed(id, rpcError("METHOD_NOT_FOUND", `There is no method "${method.slice(0, 100)}".`));
  const release = lastingMethods.includes(method) ? held(deployment, caller) : () => undefined;
  const gone = new AbortController();
  const signal = AbortSignal.any([request.signal, gone.signal]);
  const asking: A2aAsking = { deployment, caller, agent, key, signal };
  let isStream = false;
  try {
    const outcome = await perform(asking, params);
    if ("error" in outcome) return failed(id, outcome.error);
    if ("result" in outcome) return succeeded(id, outcome.result);
    isStream = true;
    const frames = written(outcome.frames, { id, method, report: deployment.report });
    return frameStream({ frames, onClose: release, onGone: () => gone.abort() });
  } finally {
    if (!isStream) release();
  }
}

/** An answer that takes as long as a run counts as a stream. */
function held({ allowance }: Deployment, caller: Caller): () => void {
  return allowance.take(caller, "streams");
}

type Writing = { readonly id: RpcId; readonly method: string; report(thrown: unknown): string };

async function* written(
  frames: AsyncGenerator<A2aFrame, void, undefined>,
  { id, method, report }: Writing,
): AsyncGenerator<string, void, undefined> {
  const line = (body: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n\n`;
  try {
    for await (const result of frames) yield line({ result });
  } catch (thrown) {
    yield line({ error: thrownError(thrown, method, report) });
  }
}

type Body = { readonly json: unknown } | { readonly error: RpcError };

async function bodyOf(request: Request): Promise<Body> {
  try {
    return { json: await readBody(request) };
  } catch (thrown) {
    if (!(thrown instanceof AgentError) || thrown.code !== "invalid_input") throw thrown;
    return { error: rpcError("PARSE_ERROR", thrown.message) };
  }
}

function succeeded(id: RpcId, result: object): Response {
  return Response.json({ jsonrpc: "2.0", id, result });
}

function failed(id: RpcId, error: RpcError): Response {
  return Response.json({ jsonrpc: "2.0", id, error });
}

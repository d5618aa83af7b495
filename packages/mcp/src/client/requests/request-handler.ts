import { pathToFileURL } from "node:url";
import { type Client, type CreateMessageRequestParams, isSpecType } from "@modelcontextprotocol/client";
import { AgentError, type Answer, type Json, type Question } from "capstan";
import { appExtension, appMediaType } from "../apps/app-metadata.ts";
import { toElicitResult, toQuestion } from "./elicitation.ts";
import { createSamplingQuestion, defaultSampling, type Sampling, sampleModel } from "./sampling.ts";

/** A request of a server, independent of how its protocol revision sends it. */
export type ServerRequest = { readonly method: string; readonly params?: unknown };

/** Either an immediate result, or a question for the user and a callback for the answer. */
export type Reply =
  | { readonly result: Promise<Json> }
  | { readonly question: Question; answer(answer: Answer): Promise<Json> };

export type RequestHandlerOptions = {
  readonly server: string;
  /** Folders that the server may know about. */
  readonly roots: readonly string[];
  readonly sampling: Sampling | undefined;
  log(line: string): void;
};

/** Decides on the requests of one server. */
export interface RequestHandler {
  handle(request: ServerRequest, signal: AbortSignal): Reply;
}

export function createRequestHandler({
  server,
  roots,
  sampling,
  log,
}: RequestHandlerOptions): RequestHandler {
  let sampleCount = 0;

  function handleSampling(params: CreateMessageRequestParams, signal: AbortSignal): Reply {
    if (!sampling) return refuse("The server asked to use your model, which is not allowed (`sampling`).");
    const maxRequests = sampling.maxRequests ?? defaultSampling.maxRequests;
    const refuseOverLimit = () =>
      refuse(`The server has reached its limit of ${maxRequests} model requests.`);
    if (sampleCount >= maxRequests) return refuseOverLimit();
    const answer = async () => {
      if (sampleCount >= maxRequests) return refuseOverLimit().result; // others may have been approved meanwhile
      sampleCount += 1;
      log(`Model request ${sampleCount} (${sampling.model.id}).`);
      return (await sampleModel(sampling, params, signal)) as Json;
    };
    if (!(sampling.ask ?? defaultSampling.ask)) return { result: answer() };
    return {
      question: createSamplingQuestion(server, params),
      answer: async ({ approved }) => (approved ? answer() : refuse("You declined.").result),
    };
  }

  function refuse(reason: string): { readonly result: Promise<never> } {
    log(reason);
    const result = Promise.reject(new AgentError("tool_denied", reason));
    result.catch(() => undefined);
    return { result };
  }

  return {
    handle({ method, params }, signal) {
      if (method === "roots/list")
        return {
          result: Promise.resolve({ roots: roots.map((folder) => ({ uri: pathToFileURL(folder).href })) }),
        };
      // The SDK does not validate requests that arrive in a result (2026-07-28).
      if (method === "sampling/createMessage" && isSpecType.CreateMessageRequestParams(params))
        return handleSampling(params, signal);
      if (method !== "elicitation/create" || !isSpecType.ElicitRequestParams(params))
        return refuse(`The server sent an unknown or invalid request "${method}".`);
      const outcome = toQuestion(server, params);
      if ("question" in outcome)
        return {
          question: outcome.question,
          answer: async (answer) => toElicitResult(answer, params) as Json,
        };
      log(outcome.refused);
      return { result: Promise.resolve({ action: "decline" }) };
    },
  };
}

/** Declares our capabilities and passes the server's requests to `handleRequest`. */
export function registerRequestHandlers(
  client: Client,
  { sampling, roots }: Pick<RequestHandlerOptions, "sampling" | "roots">,
  handleRequest: (request: ServerRequest, signal: AbortSignal) => Promise<Json>,
): void {
  client.registerCapabilities({
    elicitation: { form: {}, url: {} },
    extensions: { [appExtension]: { mimeTypes: [appMediaType] } },
    ...(sampling && { sampling: {} }),
    ...(roots.length > 0 && { roots: {} }),
  });
  client.setRequestHandler(
    "elicitation/create",
    async (request, { mcpReq }) => (await handleRequest(request, mcpReq.signal)) as never,
  );
  if (sampling)
    client.setRequestHandler(
      "sampling/createMessage",
      async (request, { mcpReq }) => (await handleRequest(request, mcpReq.signal)) as never,
    );
  if (roots.length > 0)
    client.setRequestHandler(
      "roots/list",
      async (request, { mcpReq }) => (await handleRequest(request, mcpReq.signal)) as never,
    );
}

/*
 * Azure OpenAI, also in Microsoft Foundry. Two generations of URLs serve the same APIs:
 *   {endpoint}/openai/v1/responses and /openai/v1/chat/completions, where the body's `model` names the deployment
 *   {endpoint}/openai/deployments/{deployment}/chat/completions?api-version=2024-10-21, for a dated version
 *     (its Responses API is {endpoint}/openai/responses?api-version=…)
 * A key is sent as `api-key`, a token of Microsoft Entra as `Authorization: Bearer`. Streams begin with an event without
 * choices that has the filter results of the prompt, and `content_filter_results` are beside each delta.
 */
import { AgentError } from "../base/errors.ts";
import type { Model } from "../kernel/model.ts";
import { createTokenAuth, type TokenProvider } from "./credentials.ts";
import { createEmbeddingModel } from "./embeddings/embedding-model.ts";
import { readEnv, requireKey } from "./environment.ts";
import { type ClientOptions, pickClientOptions } from "./http-model.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { createPricer } from "./pricing.ts";
import { renameWire } from "./rename-wire.ts";
import type { Wire } from "./wire.ts";
import { withoutFiles } from "./without-files.ts";

export type AzureOptions = ClientOptions & {
  /** The model. Also the name of the deployment, unless `deployment` is another one. */
  readonly model: string;
  readonly deployment?: string;
  /** Name of the resource, for `https://{resource}.openai.azure.com`. Default: `AZURE_RESOURCE_NAME`. */
  readonly resource?: string;
  /** The endpoint of the resource. Default: `AZURE_OPENAI_ENDPOINT`. */
  readonly baseURL?: string;
  /** Default: `OPENAI_API_VERSION`, else the v1 API. A date such as `2024-10-21` selects the deployment's own URL. */
  readonly apiVersion?: string;
  /** Default: `responses`; `chat` with a dated `apiVersion`. */
  readonly api?: "responses" | "chat";
  /** Returns a token of Microsoft Entra, for example `getBearerTokenProvider` of `@azure/identity`. Replaces the key. */
  readonly token?: TokenProvider;
};

const wires: { readonly [Api in "responses" | "chat"]: Wire } = {
  responses: withoutFiles(renameWire(openAiResponses, "azure-responses")),
  chat: withoutFiles(renameWire(openAiChat, "azure-chat")),
};

/** Models in Azure OpenAI. The key defaults to `AZURE_OPENAI_API_KEY`. */
export function azure(options: AzureOptions): Model {
  const { model, deployment = model, token, clock, headers } = options;
  const version = options.apiVersion ?? readEnv("OPENAI_API_VERSION");
  const api = options.api ?? (isDated(version) ? "chat" : "responses");
  const auth = token && createTokenAuth(token, clock);
  return createEmbeddingModel({
    id: `azure/${deployment}`,
    api: api === "responses" ? "openai-responses" : "openai-chat",
    wire: deployment === model ? wires[api] : withDeployment(wires[api], deployment),
    ...pickClientOptions(options),
    price: createPricer({ provider: "azure", model, prices: options.prices }),
    url: () => buildAzureUrl(getEndpoint(options), { api, deployment, version }),
    embeddings: {
      api: "openai",
      url: () => buildAzureUrl(getEndpoint(options), { api: "embeddings", deployment, version }),
      model: deployment,
    },
    headers: async () => ({
      ...(auth
        ? await auth.headers()
        : { "api-key": requireKey("Azure OpenAI", options.apiKey, ["AZURE_OPENAI_API_KEY"]) }),
      ...headers,
    }),
    renew: auth?.renew,
  });
}

/** The body names the deployment; the wire looks at the model to know what it accepts. */
function withDeployment(wire: Wire, deployment: string): Wire {
  return {
    ...wire,
    toRequest: (request, settings) =>
      wire.toRequest(request, { ...settings, extra: { ...settings.extra, model: deployment } }),
  };
}

function getEndpoint({ baseURL, resource }: AzureOptions): string {
  const fromResource = (name: string | undefined) => name && `https://${name}.openai.azure.com`;
  const endpoint =
    baseURL ??
    fromResource(resource) ??
    readEnv("AZURE_OPENAI_ENDPOINT") ??
    fromResource(readEnv("AZURE_RESOURCE_NAME"));
  // Portals show the endpoint with and without the path of the API.
  if (endpoint) return endpoint.replace(/\/+$/, "").replace(/\/openai(?:\/v1)?$/, "");
  throw new AgentError(
    "model_auth",
    "No endpoint for Azure OpenAI. Set AZURE_OPENAI_ENDPOINT or AZURE_RESOURCE_NAME, or pass `resource`.",
  );
}

type AzureRoute = {
  readonly api: keyof typeof azurePaths;
  readonly deployment: string;
  readonly version: string | undefined;
};

const azurePaths = { responses: "/responses", chat: "/chat/completions", embeddings: "/embeddings" };

function buildAzureUrl(endpoint: string, { api, deployment, version }: AzureRoute): string {
  const path = azurePaths[api];
  const query =
    version === undefined || version === "v1" ? "" : `?api-version=${encodeURIComponent(version)}`;
  if (!isDated(version)) return `${endpoint}/openai/v1${path}${query}`;
  const folder = api !== "responses" ? `/deployments/${encodeURIComponent(deployment)}` : "";
  return `${endpoint}/openai${folder}${path}${query}`;
}

/** The v1 API has no version, or `v1`, `latest` or `preview`. */
function isDated(version: string | undefined): version is string {
  return version !== undefined && /^\d{4}-/.test(version);
}

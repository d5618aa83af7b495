import { suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { findNamedHostedProblems } from "../kernel/hosted-support.ts";
import type { Model } from "../kernel/model.ts";
import { findNamedProblems } from "../kernel/settings/support.ts";
import { createUnsupportedError } from "./embeddings/unsupported.ts";
import { readEnv, requireKey } from "./environment.ts";

const ownClients = ["openai", "anthropic", "gemini", "azure", "bedrock", "vertex", "local"];

const models = new Map<string, Model>();

/** Returns the model for a name such as `openai/gpt-5-mini`. The client is loaded and the key read on the first request. */
export function getNamedModel(name: string): Model {
  const model = models.get(name) ?? createLazyModel(name);
  models.set(name, model);
  return model;
}

function createLazyModel(name: string): Model {
  let loaded: Model | undefined;
  return {
    id: name,
    checkSettings: (settings) => findNamedProblems(name, settings),
    // Asked after a request, when the client is loaded.
    acceptsMedia: (part) => loaded?.acceptsMedia?.(part) ?? true,
    checkHosted: (request) => findNamedHostedProblems(name, request),
    async *stream(request, options) {
      loaded = await loadModel(name);
      yield* loaded.stream(request, options);
    },
    async embed(texts, options) {
      const { embed } = await loadModel(name);
      if (!embed) throw createUnsupportedError(name, "embeddings");
      return embed(texts, options);
    },
    async rerank(request, options) {
      const { rerank } = await loadModel(name);
      if (!rerank) throw createUnsupportedError(name, "reranking");
      return rerank(request, options);
    },
  };
}

async function loadModel(name: string): Promise<Model> {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  switch (provider) {
    case "openai":
      return (await import("./openai.ts")).openai({ model });
    case "anthropic":
      return (await import("./anthropic.ts")).anthropic({ model });
    case "gemini":
      return (await import("./gemini.ts")).gemini({ model });
    case "azure":
      return (await import("./azure.ts")).azure({ model });
    case "bedrock":
      return (await import("./bedrock.ts")).bedrock({ model });
    case "vertex":
      return (await import("./vertex.ts")).vertex({ model });
    case "local":
      return (await import("./local-file.ts")).loadLocalFile(model);
    default:
      return loadCompatible(provider, model);
  }
}

async function loadCompatible(provider: string, model: string): Promise<Model> {
  const { compatibleServerNames, findCompatibleServer } = await import("./compatible-servers.ts");
  const server = findCompatibleServer(provider);
  if (!server) throw createUnknownProviderError(provider, model, compatibleServerNames);
  const { baseURL, quirks, key, isOpen } = server;
  const apiKey = isOpen ? readEnv(key) : requireKey(provider, undefined, [key]);
  const { compatible } = await import("./compatible.ts");
  return compatible({ provider, model, baseURL, quirks, ...(apiKey && { apiKey }) });
}

function createUnknownProviderError(provider: string, model: string, servers: readonly string[]): AgentError {
  const providers = [...ownClients, ...servers];
  const hint = provider ? suggestName(provider, providers) : ` Write the model as "provider/${model}".`;
  const message = `Unknown provider ${JSON.stringify(provider)}.${hint} Known: ${providers.join(", ")}.`;
  return new AgentError("model_not_found", message);
}

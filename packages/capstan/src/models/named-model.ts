import { suggestName } from "../definition.ts";
import { AgentError } from "../errors.ts";
import type { Model } from "../model.ts";
import { findNamedProblems } from "../settings/support.ts";
import { readEnv, requireKey } from "./environment.ts";
import { getLocalServerUrl, isLocalServerName, localServerNames } from "./local-servers.ts";
import type { ChatQuirks } from "./openai-chat.ts";

type Server = { readonly baseURL: string; readonly key: string; readonly quirks?: ChatQuirks };

/** Servers with an OpenAI-compatible chat completions API, by model name prefix. */
const compatibleServers: { readonly [provider: string]: Server } = {
  openrouter: { baseURL: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY" },
  groq: { baseURL: "https://api.groq.com/openai/v1", key: "GROQ_API_KEY" },
  mistral: {
    baseURL: "https://api.mistral.ai/v1",
    key: "MISTRAL_API_KEY",
    quirks: { callIds: "nine", required: "any", usageOption: false },
  },
  deepseek: { baseURL: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY" },
  xai: { baseURL: "https://api.x.ai/v1", key: "XAI_API_KEY" },
  cerebras: { baseURL: "https://api.cerebras.ai/v1", key: "CEREBRAS_API_KEY" },
  together: { baseURL: "https://api.together.xyz/v1", key: "TOGETHER_API_KEY" },
  fireworks: { baseURL: "https://api.fireworks.ai/inference/v1", key: "FIREWORKS_API_KEY" },
  huggingface: { baseURL: "https://router.huggingface.co/v1", key: "HF_TOKEN" },
  gateway: { baseURL: "https://ai-gateway.vercel.sh/v1", key: "AI_GATEWAY_API_KEY" },
};
const ownClients = ["openai", "anthropic", "gemini", "azure", "vertex"];

const models = new Map<string, Model>();

/** Returns the model for a name such as `openai/gpt-5-mini`. The client is loaded and the key read on the first request. */
export function getNamedModel(name: string): Model {
  const model = models.get(name) ?? createLazyModel(name);
  models.set(name, model);
  return model;
}

function createLazyModel(name: string): Model {
  return {
    id: name,
    checkSettings: (settings) => findNamedProblems(name, settings),
    async *stream(request, options) {
      yield* (await loadModel(name)).stream(request, options);
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
    case "vertex":
      return loadVertex(model);
    default:
      return loadCompatible(provider, model);
  }
}

async function loadVertex(model: string): Promise<Model> {
  const project = requireKey("Vertex (the project)", undefined, ["GOOGLE_CLOUD_PROJECT"]);
  const location = readEnv("GOOGLE_CLOUD_LOCATION") ?? "global";
  // Tokens are short-lived, so the variable is read for every request.
  const token = () => requireKey("Vertex", undefined, ["GOOGLE_ACCESS_TOKEN"]);
  return (await import("./gemini.ts")).gemini({ model, vertex: { project, location, token } });
}

async function loadCompatible(provider: string, model: string): Promise<Model> {
  const { compatible } = await import("./compatible.ts");
  if (isLocalServerName(provider))
    return compatible({ provider, model, baseURL: `${getLocalServerUrl(provider)}/v1` });
  const server = Object.hasOwn(compatibleServers, provider) ? compatibleServers[provider] : undefined;
  if (!server) throw createUnknownProviderError(provider, model);
  const { key, ...rest } = server;
  return compatible({ provider, model, ...rest, apiKey: requireKey(provider, undefined, [key]) });
}

function createUnknownProviderError(provider: string, model: string): AgentError {
  const providers = [...ownClients, ...localServerNames, ...Object.keys(compatibleServers)];
  const hint = provider ? suggestName(provider, providers) : ` Write the model as "provider/${model}".`;
  const message = `Unknown provider ${JSON.stringify(provider)}.${hint} Known: ${providers.join(", ")}.`;
  return new AgentError("model_not_found", message);
}

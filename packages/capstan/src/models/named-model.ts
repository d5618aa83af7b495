import { suggestName } from "../definition.ts";
import { AgentError } from "../errors.ts";
import type { Model } from "../model.ts";
import { environment, keyFrom } from "./environment.ts";
import type { ChatQuirks } from "./openai-chat.ts";

type Server = { readonly baseURL: string; readonly key: string; readonly quirks?: ChatQuirks };

/** Servers that speak OpenAI's chat completions, by the first part of a model's name. */
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
const others = ["openai", "anthropic", "gemini", "vertex", "ollama"];

const known = new Map<string, Model>();

/** The model of a name such as `openai/gpt-5-mini`. Its client is loaded, and its key looked for, when it is first asked. */
export function namedModel(name: string): Model {
  const model = known.get(name) ?? lazyModel(name);
  known.set(name, model);
  return model;
}

function lazyModel(name: string): Model {
  return {
    id: name,
    async *stream(request, options) {
      yield* (await load(name)).stream(request, options);
    },
  };
}

async function load(name: string): Promise<Model> {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  switch (provider) {
    case "openai":
      return (await import("./openai.ts")).openai({ model });
    case "anthropic":
      return (await import("./anthropic.ts")).anthropic({ model });
    case "gemini":
      return (await import("./gemini.ts")).gemini({ model });
    case "vertex":
      return loadVertex(model);
    default:
      return loadCompatible(provider, model);
  }
}

async function loadVertex(model: string): Promise<Model> {
  const project = keyFrom("Vertex (the project)", undefined, ["GOOGLE_CLOUD_PROJECT"]);
  const location = environment("GOOGLE_CLOUD_LOCATION") ?? "global";
  // Tokens are short-lived, so it is looked up anew for every request.
  const token = () => keyFrom("Vertex", undefined, ["GOOGLE_ACCESS_TOKEN"]);
  return (await import("./gemini.ts")).gemini({ model, vertex: { project, location, token } });
}

async function loadCompatible(provider: string, model: string): Promise<Model> {
  const server = Object.hasOwn(compatibleServers, provider) ? compatibleServers[provider] : undefined;
  if (!server && provider !== "ollama") throw unknownProvider(provider, model);
  const { compatible } = await import("./compatible.ts");
  if (!server) return compatible({ provider, model, baseURL: `${ollamaHost()}/v1` });
  const { key, ...rest } = server;
  return compatible({ provider, model, ...rest, apiKey: keyFrom(provider, undefined, [key]) });
}

export function ollamaHost(): string {
  const host = environment("OLLAMA_HOST") ?? "127.0.0.1:11434";
  return /^https?:/.test(host) ? host.replace(/\/+$/, "") : `http://${host}`;
}

function unknownProvider(provider: string, model: string): AgentError {
  const providers = [...others, ...Object.keys(compatibleServers)];
  const hint = provider ? suggestName(provider, providers) : ` Write the model as "provider/${model}".`;
  const message = `There is no provider ${JSON.stringify(provider)}.${hint} Known: ${providers.join(", ")}.`;
  return new AgentError("model_not_found", message);
}

import { servers } from "../kernel/settings/servers.ts";
import { readEnv } from "./environment.ts";
import { getLocalServerUrl, isLocalServerName } from "./local-servers.ts";
import type { ChatQuirks } from "./openai-chat.ts";

type KnownServer = {
  /** Missing for a server on this machine. */
  readonly baseURL?: string;
  /** Variable that replaces the base URL. */
  readonly baseVariable?: string;
  /** Variable with the API key. */
  readonly key: string;
  /** The server needs no key, unless its operator set one. */
  readonly isOpen?: boolean;
  /** Differences besides those in `servers`. */
  readonly quirks?: ChatQuirks;
};

/** Servers that take a tool choice only as a word, or ignore a name. */
const wordsOnly: ChatQuirks = { namedChoice: "alone" };

/** Without this, the servers send the reasoning of these models as part of the text, in `<think>`. */
const parsedReasoning: ChatQuirks = {
  modelFields: [{ models: /qwen/, fields: { reasoning_format: "parsed" } }],
};

/** Servers with an OpenAI-compatible chat completions API, by model name prefix. */
const knownServers: { readonly [provider: string]: KnownServer } = {
  openrouter: {
    baseURL: "https://openrouter.ai/api/v1",
    key: "OPENROUTER_API_KEY",
    quirks: { videos: true },
  },
  groq: { baseURL: "https://api.groq.com/openai/v1", key: "GROQ_API_KEY", quirks: parsedReasoning },
  mistral: {
    baseURL: "https://api.mistral.ai/v1",
    key: "MISTRAL_API_KEY",
    quirks: {
      ...{ callIds: "nine", required: "any", usageOption: false, seedField: "random_seed" },
      resultMedia: false,
    },
  },
  deepseek: { baseURL: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY" },
  xai: { baseURL: "https://api.x.ai/v1", key: "XAI_API_KEY" },
  cerebras: { baseURL: "https://api.cerebras.ai/v1", key: "CEREBRAS_API_KEY", quirks: parsedReasoning },
  together: { baseURL: "https://api.together.xyz/v1", key: "TOGETHER_API_KEY" },
  fireworks: { baseURL: "https://api.fireworks.ai/inference/v1", key: "FIREWORKS_API_KEY" },
  huggingface: { baseURL: "https://router.huggingface.co/v1", key: "HF_TOKEN" },
  gateway: { baseURL: "https://ai-gateway.vercel.sh/v1", key: "AI_GATEWAY_API_KEY" },
  litellm: {
    baseURL: "http://127.0.0.1:4000/v1",
    baseVariable: "LITELLM_BASE_URL",
    key: "LITELLM_API_KEY",
    isOpen: true,
  },
  ollama: { key: "OLLAMA_API_KEY", isOpen: true, quirks: wordsOnly },
  lmstudio: { key: "LMSTUDIO_API_KEY", isOpen: true, quirks: wordsOnly },
  llamacpp: { key: "LLAMACPP_API_KEY", isOpen: true, quirks: wordsOnly },
  vllm: { key: "VLLM_API_KEY", isOpen: true, quirks: { videos: true } },
};

export const compatibleServerNames: readonly string[] = Object.keys(knownServers);

type CompatibleServer = Pick<KnownServer, "key" | "isOpen"> & {
  readonly baseURL: string;
  readonly quirks: ChatQuirks;
};

/** Returns the server with a name, with its address as the environment sets it. */
export function findCompatibleServer(name: string): CompatibleServer | undefined {
  const server = Object.hasOwn(knownServers, name) ? knownServers[name] : undefined;
  if (!server) return undefined;
  const { key, isOpen = false, baseVariable = "" } = server;
  const usual = isLocalServerName(name) ? `${getLocalServerUrl(name)}/v1` : (server.baseURL ?? "");
  const baseURL = readEnv(baseVariable) ?? usual;
  return { key, isOpen, baseURL, quirks: { ...servers[name], ...server.quirks } };
}

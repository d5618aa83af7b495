/** A model provider: the prefix of its model names, and the environment variables that may hold its key. */
export type Provider = {
  readonly name: string;
  readonly keys: readonly string[];
  /** Variable with a key that the server may require, and usually does not. */
  readonly optionalKey?: string;
  /** Credentials that the client finds without a variable. */
  readonly external?: string;
  /** Default model when this provider's key is the first one found. */
  readonly usual?: string;
};

/** In the order in which keys are checked when no model is configured. */
export const providers: readonly Provider[] = [
  { name: "openai", keys: ["OPENAI_API_KEY"], usual: "openai/gpt-5-mini" },
  {
    name: "anthropic",
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    usual: "anthropic/claude-haiku-4-5",
  },
  { name: "gemini", keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], usual: "gemini/gemini-3.5-flash" },
  { name: "openrouter", keys: ["OPENROUTER_API_KEY"], usual: "openrouter/openrouter/auto" },
  { name: "gateway", keys: ["AI_GATEWAY_API_KEY"] },
  { name: "groq", keys: ["GROQ_API_KEY"] },
  { name: "mistral", keys: ["MISTRAL_API_KEY"] },
  { name: "deepseek", keys: ["DEEPSEEK_API_KEY"] },
  { name: "xai", keys: ["XAI_API_KEY"] },
  { name: "cerebras", keys: ["CEREBRAS_API_KEY"] },
  { name: "together", keys: ["TOGETHER_API_KEY"] },
  { name: "fireworks", keys: ["FIREWORKS_API_KEY"] },
  { name: "huggingface", keys: ["HF_TOKEN"] },
  { name: "azure", keys: ["AZURE_OPENAI_API_KEY"] },
  { name: "vertex", keys: ["GOOGLE_ACCESS_TOKEN"], external: "Google's application-default credentials" },
  {
    name: "bedrock",
    keys: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY"],
    external: "the credential chain of AWS",
  },
  { name: "litellm", keys: [], optionalKey: "LITELLM_API_KEY" },
  { name: "ollama", keys: [], optionalKey: "OLLAMA_API_KEY" },
  { name: "lmstudio", keys: [], optionalKey: "LMSTUDIO_API_KEY" },
  { name: "llamacpp", keys: [], optionalKey: "LLAMACPP_API_KEY" },
  { name: "vllm", keys: [], optionalKey: "VLLM_API_KEY" },
  { name: "local", keys: [] },
  { name: "offline", keys: [] },
];

/** Whether a model can be used: the variable that holds its key, or the variables that are missing. */
export type KeyState =
  | { readonly type: "set"; readonly variable: string }
  | { readonly type: "missing"; readonly variables: readonly string[] }
  /** Not in a variable: the client looks for credentials on its first request. */
  | { readonly type: "external"; readonly source: string }
  | { readonly type: "not_needed" }
  | { readonly type: "unknown_provider" };

/** Environment variables. */
export type Environment = { readonly [name: string]: string | undefined };

/** Checks the key for a model named `provider/model`. */
export function keyState(model: string, env: Environment): KeyState {
  const provider = providers.find(({ name }) => name === getProvider(model));
  if (!provider) return { type: "unknown_provider" };
  if (provider.keys.length === 0) return { type: "not_needed" };
  const variable = provider.keys.find((key) => env[key]);
  if (variable !== undefined) return { type: "set", variable };
  const { keys, external } = provider;
  return external ? { type: "external", source: external } : { type: "missing", variables: keys };
}

/** Returns the provider of a model named `provider/model`. */
export function getProvider(model: string): string {
  return model.split("/")[0] ?? "";
}

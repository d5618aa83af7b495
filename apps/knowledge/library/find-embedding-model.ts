/** The embedding model of each provider, in the order in which keys are looked for. */
const models: readonly (readonly [key: string, model: string])[] = [
  ["OPENAI_API_KEY", "openai/text-embedding-3-small"],
  ["GEMINI_API_KEY", "gemini/gemini-embedding-001"],
  ["GOOGLE_API_KEY", "gemini/gemini-embedding-001"],
  ["MISTRAL_API_KEY", "mistral/mistral-embed"],
];

type Environment = { readonly [name: string]: string | undefined };

/**
 * Returns the model for search by meaning: `CAPSTAN_EMBEDDING_MODEL` (`off` for none), else that of the first provider
 * with a key. Undefined without either.
 */
export function findEmbeddingModel(env: Environment = process.env): string | undefined {
  const chosen = env.CAPSTAN_EMBEDDING_MODEL;
  if (chosen) return chosen === "off" ? undefined : chosen;
  return models.find(([key]) => env[key])?.[1];
}

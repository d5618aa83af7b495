/** Where the keys of model providers are looked for. */
const keys: readonly string[] = [
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  ...["GOOGLE_ACCESS_TOKEN", "OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY"],
  ...["XAI_API_KEY", "CEREBRAS_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "HF_TOKEN"],
  ...["AI_GATEWAY_API_KEY", "CAPSTAN_API_KEY"],
];

const shortestKey = 6;

/** The secrets of a run: those given, and the keys of model providers that are set. */
export function knownSecrets(
  given: readonly string[],
  environment: (name: string) => string | undefined,
): readonly string[] {
  const found = keys.map((key) => environment(key)?.trim() ?? "").filter(isKey);
  return given.length + found.length > 0 ? [...new Set([...given, ...found])] : [];
}

/** Local servers are given words such as "ollama" or "not-needed" for a key: to mask those would spoil texts. */
function isKey(value: string): boolean {
  return value.length >= shortestKey && !/^[a-z]+(?:[-_ ][a-z]+)*$/i.test(value);
}

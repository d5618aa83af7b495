import { AgentError } from "../errors.ts";
import { providers } from "./providers.ts";

/** Reads an environment variable; undefined where there is no environment, as in browsers and workers. */
export function readEnv(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Returns the API key, or throws `model_auth`. Called on first use, so that an agent can be defined without its key. */
export function requireKey(provider: string, apiKey: string | undefined, names: readonly string[]): string {
  const key = apiKey ?? names.map(readEnv).find((value) => value !== undefined);
  if (key) return key;
  throw new AgentError(
    "model_auth",
    `No API key for ${provider}. Set ${names.join(" or ")}, or pass \`apiKey\`.`,
  );
}

const keyVariables = [
  ...providers.flatMap(({ keys, optionalKey }) => [...keys, ...(optionalKey ? [optionalKey] : [])]),
  "CAPSTAN_API_KEY",
];
const minKeyLength = 6;

/** Lists the keys of model providers in the environment. */
export function listKeys(read: typeof readEnv = readEnv): readonly string[] {
  return keyVariables.map((name) => read(name)?.trim() ?? "").filter(isKey);
}

/** Excludes placeholder keys of local servers, such as "ollama" or "not-needed": masking them would corrupt texts. */
function isKey(value: string): boolean {
  return value.length >= minKeyLength && !/^[a-z]+(?:[-_ ][a-z]+)*$/i.test(value);
}

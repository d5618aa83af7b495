import { AgentError } from "../base/errors.ts";
import { providers } from "./providers.ts";

/** Reads an environment variable; undefined where there is no environment, as in browsers and workers. */
export function readEnv(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Returns the API key, or throws `model_auth`. Called on first use, so that an agent can be defined without its key. */
export function requireKey(provider: string, apiKey: string | undefined, names: readonly string[]): string {
  return requireValue(apiKey, { what: `API key for ${provider}`, names, option: "apiKey" });
}

type RequiredValue = {
  readonly what: string;
  /** Variables that may hold it. */
  readonly names: readonly string[];
  readonly option: string;
};

/** Returns the value of an option or of its variable, or throws `model_auth`. */
export function requireValue(value: string | undefined, { what, names, option }: RequiredValue): string {
  const found = value ?? names.map(readEnv).find((variable) => variable !== undefined);
  if (found) return found;
  throw new AgentError("model_auth", `No ${what}. Set ${names.join(" or ")}, or pass \`${option}\`.`);
}

const keyVariables = [
  ...providers.flatMap(({ keys, optionalKey }) => [...keys, ...(optionalKey ? [optionalKey] : [])]),
  ...["AWS_SESSION_TOKEN", "CAPSTAN_API_KEY"],
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

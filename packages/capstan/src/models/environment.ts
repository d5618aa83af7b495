import { AgentError } from "../errors.ts";

/** A variable of the environment, where there is one: browsers and workers have none. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Found when it is needed, so that an agent can be defined where its key is not. */
export function keyFrom(provider: string, given: string | undefined, names: readonly string[]): string {
  const key = given ?? names.map(environment).find((value) => value !== undefined);
  if (key) return key;
  throw new AgentError(
    "model_auth",
    `There is no key for ${provider}: set ${names.join(" or ")}, or give \`apiKey\`.`,
  );
}

import type { Model } from "../kernel/model.ts";
import { readEnv } from "./environment.ts";
import { findLocalServers } from "./local-servers.ts";
import { getNamedModel } from "./named-model.ts";
import { loadOffline } from "./offline.ts";
import { providers } from "./providers.ts";

export { getProvider, keyState, type Provider, providers } from "./providers.ts";

export type DefaultModelOptions = { readonly fetch?: typeof fetch };

/**
 * Returns the model to use when none is configured: `CAPSTAN_MODEL`, else the first provider with a key, else a cloud that
 * is set up, else a running local server, else the offline model. Makes no requests beyond this machine.
 */
export async function defaultModel({ fetch: send = fetch }: DefaultModelOptions = {}): Promise<Model> {
  const named = readEnv("CAPSTAN_MODEL");
  if (named) return named.startsWith("offline") ? loadOffline() : getNamedModel(named);
  const found = providers.find(({ keys, usual }) => usual && keys.some((key) => readEnv(key)));
  if (found?.usual) return getNamedModel(found.usual);
  const cloud = await findCloudModel();
  if (cloud) return getNamedModel(cloud);
  const [server] = await findLocalServers({ fetch: send });
  return server ? getNamedModel(`${server.name}/${server.models[0]}`) : loadOffline();
}

/**
 * Azure, Vertex and Bedrock, in this order, each if everything its client needs is set. AWS keys for other services are common,
 * so only an API key of Bedrock counts.
 */
async function findCloudModel(): Promise<string | undefined> {
  const deployment = readEnv("AZURE_OPENAI_DEPLOYMENT");
  const endpoint = readEnv("AZURE_OPENAI_ENDPOINT") ?? readEnv("AZURE_RESOURCE_NAME");
  if (deployment && endpoint && readEnv("AZURE_OPENAI_API_KEY")) return `azure/${deployment}`;
  const { findGoogleProject, hasGoogleCredentials } = await import("./google-credentials.ts");
  if (hasGoogleCredentials() && findGoogleProject()) return "vertex/gemini-3.5-flash";
  const region = readEnv("AWS_REGION") ?? readEnv("AWS_DEFAULT_REGION");
  if (region && readEnv("AWS_BEARER_TOKEN_BEDROCK"))
    return "bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0";
  return undefined;
}

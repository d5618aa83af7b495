import { isRecord } from "../json.ts";
import type { Model } from "../model.ts";
import { readEnv } from "./environment.ts";
import { getNamedModel, getOllamaHost } from "./named-model.ts";
import { loadOffline } from "./offline.ts";
import { providers } from "./providers.ts";

const ollamaTimeoutMs = 300;

export type DefaultModelOptions = { readonly fetch?: typeof fetch };

/**
 * Returns the model to use when none is configured: `CAPSTAN_MODEL`, else the first provider with a key, else a running
 * local Ollama, else the offline model. Makes no requests beyond this machine.
 */
export async function defaultModel({ fetch: send = fetch }: DefaultModelOptions = {}): Promise<Model> {
  const named = readEnv("CAPSTAN_MODEL");
  if (named) return named.startsWith("offline") ? loadOffline() : getNamedModel(named);
  const found = providers.find(({ keys, usual }) => usual && keys.some((key) => readEnv(key)));
  if (found?.usual) return getNamedModel(found.usual);
  const local = await findOllamaModel(send);
  return local ? getNamedModel(`ollama/${local}`) : loadOffline();
}

async function findOllamaModel(send: typeof fetch): Promise<string | undefined> {
  try {
    const response = await send(`${getOllamaHost()}/api/tags`, {
      signal: AbortSignal.timeout(ollamaTimeoutMs),
    });
    const body: unknown = await response.json();
    const [first] = isRecord(body) && Array.isArray(body.models) ? body.models : [];
    return isRecord(first) && typeof first.name === "string" ? first.name : undefined;
  } catch {
    return undefined; // Ollama is not running
  }
}

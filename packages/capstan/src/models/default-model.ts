import { isRecord } from "../json.ts";
import type { Model } from "../model.ts";
import { environment } from "./environment.ts";
import { namedModel, ollamaHost } from "./named-model.ts";
import { loadOffline } from "./offline.ts";
import { providers } from "./providers.ts";

const patienceMs = 300;

export type DefaultModelOptions = { readonly fetch?: typeof fetch };

/**
 * The model for someone who has chosen none: what `CAPSTAN_MODEL` names, else the first provider with a key, else a
 * local Ollama that answers, else the offline model. Asks nobody but this machine.
 */
export async function defaultModel({ fetch: send = fetch }: DefaultModelOptions = {}): Promise<Model> {
  const named = environment("CAPSTAN_MODEL");
  if (named) return named.startsWith("offline") ? loadOffline() : namedModel(named);
  const found = providers.find(({ keys, usual }) => usual && keys.some((key) => environment(key)));
  if (found?.usual) return namedModel(found.usual);
  const local = await firstOllamaModel(send);
  return local ? namedModel(`ollama/${local}`) : loadOffline();
}

async function firstOllamaModel(send: typeof fetch): Promise<string | undefined> {
  try {
    const response = await send(`${ollamaHost()}/api/tags`, { signal: AbortSignal.timeout(patienceMs) });
    const body: unknown = await response.json();
    const [first] = isRecord(body) && Array.isArray(body.models) ? body.models : [];
    return isRecord(first) && typeof first.name === "string" ? first.name : undefined;
  } catch {
    return undefined; // nobody is there
  }
}

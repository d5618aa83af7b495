import type { Model } from "../model.ts";
import { readEnv } from "./environment.ts";
import { findLocalServers } from "./local-servers.ts";
import { getNamedModel } from "./named-model.ts";
import { loadOffline } from "./offline.ts";
import { providers } from "./providers.ts";

export type DefaultModelOptions = { readonly fetch?: typeof fetch };

/**
 * Returns the model to use when none is configured: `CAPSTAN_MODEL`, else the first provider with a key, else a
 * running local server, else the offline model. Makes no requests beyond this machine.
 */
export async function defaultModel({ fetch: send = fetch }: DefaultModelOptions = {}): Promise<Model> {
  const named = readEnv("CAPSTAN_MODEL");
  if (named) return named.startsWith("offline") ? loadOffline() : getNamedModel(named);
  const found = providers.find(({ keys, usual }) => usual && keys.some((key) => readEnv(key)));
  if (found?.usual) return getNamedModel(found.usual);
  const [server] = await findLocalServers({ fetch: send });
  return server ? getNamedModel(`${server.name}/${server.models[0]}`) : loadOffline();
}

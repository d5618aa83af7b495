import { findModelInfo } from "./find-model-info.ts";
import type { Price } from "./model-table.ts";
import { type Environment, getProvider, type KeyState, keyState, providers } from "./providers.ts";

/** In US dollars per million tokens. */
export type ModelPrice = Pick<Price, "input" | "output">;

/** A model that can be selected. */
export type KnownModel = {
  /** Missing for a provider without a default model: any of its models can be named. */
  readonly model?: string;
  readonly provider: string;
  readonly inUse: boolean;
  readonly key: KeyState;
  /** Missing if it is not known. */
  readonly price?: ModelPrice;
  /** Maximum tokens of input and output together. Missing if it is not known. */
  readonly contextWindow?: number;
};

export type KnownModelsOptions = {
  /** The current model. */
  readonly inUse: string;
  /** Other models named in the configuration. */
  readonly named: readonly string[];
  readonly env: Environment;
  /** Models found on this machine: in files, and on servers. */
  readonly found?: readonly string[];
};

/** Lists the named and found models, then the default model of every other provider. Never includes a key. */
export async function knownModels({
  inUse,
  named: others,
  env,
  found = [],
}: KnownModelsOptions): Promise<readonly KnownModel[]> {
  const named = [inUse, ...others, ...found];
  const missing = providers.filter(({ name }) => !named.some((model) => getProvider(model) === name));
  const usual = missing.flatMap(({ usual: model }) => model ?? []);
  const models = [...new Set([...named, ...usual])].map(async (model): Promise<KnownModel> => {
    const { price, contextWindow } = (await findModelInfo(model)) ?? {};
    const about = { model, provider: getProvider(model), inUse: model === inUse, key: keyState(model, env) };
    return {
      ...about,
      ...(price && { price: { input: price.input, output: price.output } }),
      ...(contextWindow !== undefined && { contextWindow }),
    };
  });
  const open = missing
    .filter((provider) => provider.usual === undefined && provider.name !== "offline")
    .map(({ name }): KnownModel => ({ provider: name, inUse: false, key: keyState(`${name}/`, env) }));
  return [...(await Promise.all(models)), ...open];
}

import { createPricer } from "./pricing.ts";
import { type Environment, getProvider, type KeyState, keyState, providers } from "./providers.ts";

/** In US dollars per million tokens. */
export type ModelPrice = { readonly input: number; readonly output: number };

/** A model that can be selected. */
export type KnownModel = {
  /** Missing for a provider without a default model: any of its models can be named. */
  readonly model?: string;
  readonly provider: string;
  readonly inUse: boolean;
  readonly key: KeyState;
  readonly price?: ModelPrice;
};

export type KnownModelsOptions = {
  /** The current model. */
  readonly inUse: string;
  /** Other models named in the configuration. */
  readonly named: readonly string[];
  readonly env: Environment;
};

/** Lists the named models, then the default model of every other provider. Never includes a key. */
export async function knownModels({
  inUse,
  named: others,
  env,
}: KnownModelsOptions): Promise<readonly KnownModel[]> {
  const named = [inUse, ...others];
  const missing = providers.filter(({ name }) => !named.some((model) => getProvider(model) === name));
  const usual = missing.flatMap(({ usual: model }) => model ?? []);
  const models = [...new Set([...named, ...usual])].map(async (model): Promise<KnownModel> => {
    const price = await findPrice(model);
    const about = { model, provider: getProvider(model), inUse: model === inUse, key: keyState(model, env) };
    return { ...about, ...(price && { price }) };
  });
  const open = missing
    .filter((provider) => provider.usual === undefined && provider.name !== "offline")
    .map(({ name }): KnownModel => ({ provider: name, inUse: false, key: keyState(`${name}/`, env) }));
  return [...(await Promise.all(models)), ...open];
}

/** Computed from a small usage, because some providers charge more per token for long requests. */
async function findPrice(model: string): Promise<ModelPrice | undefined> {
  const name = model.slice(model.indexOf("/") + 1);
  const cost = createPricer({ provider: getProvider(model), model: name });
  const [input, output] = await Promise.all([
    cost({ inputTokens: 1000, outputTokens: 0 }),
    cost({ inputTokens: 0, outputTokens: 1000 }),
  ]);
  if (input.cost === undefined || output.cost === undefined) return undefined;
  return { input: roundPrice(input.cost * 1000), output: roundPrice(output.cost * 1000) };
}

const roundPrice = (amount: number): number => Math.round(amount * 10_000) / 10_000;

import { priced } from "./pricing.ts";
import { type Environment, type KeyState, keyState, providerOf, providers } from "./providers.ts";

/** In US dollars per million tokens. */
export type ModelPrice = { readonly input: number; readonly output: number };

/** A model that could be asked. */
export type KnownModel = {
  /** Left out for a provider whose models are many: any of them can be named. */
  readonly model?: string;
  readonly provider: string;
  readonly inUse: boolean;
  readonly key: KeyState;
  readonly price?: ModelPrice;
};

export type KnownModelsOptions = {
  /** The one that answers. */
  readonly inUse: string;
  /** Others that somebody has named. */
  readonly named: readonly string[];
  readonly env: Environment;
};

/** Those that are named, then the usual one of every other provider; never a key. */
export async function knownModels({
  inUse,
  named: others,
  env,
}: KnownModelsOptions): Promise<readonly KnownModel[]> {
  const named = [inUse, ...others];
  const missing = providers.filter(({ name }) => !named.some((model) => providerOf(model) === name));
  const usual = missing.flatMap(({ usual: model }) => model ?? []);
  const models = [...new Set([...named, ...usual])].map(async (model): Promise<KnownModel> => {
    const price = await priceOf(model);
    const about = { model, provider: providerOf(model), inUse: model === inUse, key: keyState(model, env) };
    return { ...about, ...(price && { price }) };
  });
  const open = missing
    .filter((provider) => provider.usual === undefined && provider.name !== "offline")
    .map(({ name }): KnownModel => ({ provider: name, inUse: false, key: keyState(`${name}/`, env) }));
  return [...(await Promise.all(models)), ...open];
}

/** By a small amount, because some providers charge more for the tokens of a long request. */
async function priceOf(model: string): Promise<ModelPrice | undefined> {
  const name = model.slice(model.indexOf("/") + 1);
  const cost = priced({ provider: providerOf(model), model: name });
  const [input, output] = await Promise.all([
    cost({ inputTokens: 1000, outputTokens: 0 }),
    cost({ inputTokens: 0, outputTokens: 1000 }),
  ]);
  if (input.cost === undefined || output.cost === undefined) return undefined;
  return { input: rounded(input.cost * 1000), output: rounded(output.cost * 1000) };
}

const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

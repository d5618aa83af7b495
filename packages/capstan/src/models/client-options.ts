import { AgentError } from "../errors.ts";
import type { CircuitOptions } from "./circuit.ts";
import type { Timeouts } from "./patience.ts";
import type { PriceList } from "./priced.ts";
import type { WireSettings } from "./wire.ts";

/** What every client of a provider takes. */
export type ClientOptions = Omit<WireSettings, "stream"> & {
  /** By default from the environment, under the provider's own name for it. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** In place of the global one: for tests, proxies and tracing. */
  readonly fetch?: typeof fetch;
  /** Sent along with every request. */
  readonly headers?: { readonly [name: string]: string };
  /** False asks for whole answers. */
  readonly stream?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  /** When a provider that keeps failing is left alone for a while; false: never. */
  readonly circuit?: CircuitOptions | false;
  /** In US dollars per million tokens, by `provider/model`. They go before the known ones. */
  readonly prices?: PriceList;
};

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

/** The settings of a request among the options of a client. */
export function settingsOf({
  model,
  maxOutputTokens,
  temperature,
  extra,
}: ClientOptions): Omit<WireSettings, "stream"> {
  return { model, maxOutputTokens, temperature, extra };
}

export function joinedUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}

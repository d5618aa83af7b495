import { type Clock, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";

/** Returns an access token. Called for every request, so it may renew the token; concurrent requests share a call. */
export type TokenProvider = () => string | Promise<string>;

/** A credential, and until when it can be used. One without an expiry is loaded again for the next request. */
export type LoadedCredential<Value> = {
  readonly value: Value;
  /** In milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
};

export type CredentialOptions<Value> = {
  /** Names the source in errors: "The access token of <source> …". */
  readonly source: string;
  load(): Promise<LoadedCredential<Value>>;
  readonly clock?: Clock | undefined;
};

/** A credential that is loaded on demand and renewed before it expires. */
export type Credential<Value> = {
  /** Concurrent calls share one load. Rejects with `model_auth`, which names the source and quotes nothing of it. */
  get(): Promise<Value>;
  /** Replaces the value that a provider refused. Resolves to false if the source has no other one. */
  renew(wasRefused: (value: Value) => boolean): Promise<boolean>;
};

/** Long enough for a request that waits for its turn, and for clocks that differ. */
const renewalMarginMs = 120_000;

export function createCredential<Value>(options: CredentialOptions<Value>): Credential<Value> {
  const { source, load, clock = systemClock } = options;
  let cached: LoadedCredential<Value> | undefined;
  let pending: Promise<Value> | undefined;

  async function loadValue(): Promise<Value> {
    try {
      const loaded = await load();
      cached = loaded;
      return loaded.value;
    } catch (cause) {
      if (cause instanceof AgentError) throw cause;
      // The message of the source is not quoted: it may contain a part of the secret.
      const reason = cause instanceof Error ? ` (${cause.name})` : "";
      throw new AgentError("model_auth", `Cannot get credentials from ${source}${reason}.`, { cause });
    } finally {
      pending = undefined;
    }
  }
  function get(): Promise<Value> {
    if (cached?.expiresAt !== undefined && clock.now() < cached.expiresAt - renewalMarginMs)
      return Promise.resolve(cached.value);
    pending ??= loadValue();
    return pending;
  }
  return {
    get,
    async renew(wasRefused) {
      if (cached && wasRefused(cached.value)) cached = undefined;
      return !wasRefused(await get());
    },
  };
}

/** Headers with an access token, and the renewal of a token that was refused. */
export type TokenAuth = {
  headers(): Promise<Record<string, string>>;
  renew(sent: Readonly<Record<string, string>>): Promise<boolean>;
};

/** Sends the credential as a bearer token. */
export function createTokenAuth(options: CredentialOptions<string>): TokenAuth {
  const credential = createCredential<string>({
    ...options,
    async load() {
      const loaded = await options.load();
      if (typeof loaded.value === "string" && loaded.value !== "") return loaded;
      throw new AgentError("model_auth", `There is no access token from ${options.source}.`);
    },
  });
  const toHeader = (token: string) => `Bearer ${token}`;
  return {
    headers: async () => ({ authorization: toHeader(await credential.get()) }),
    renew: (sent) => credential.renew((token) => toHeader(token) === sent.authorization),
  };
}

import { type Clock, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";

/** Returns an access token. Called for every request, so it may renew the token; concurrent requests share a call. */
export type TokenProvider = () => string | Promise<string>;

/** A credential, and until when it can be used. One without an expiry is loaded again for the next request. */
export type LoadedCredential<Value> = {
  readonly value: Value;
  /** In milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
};

export type CredentialOptions<Value> = {
  /** Names the source in errors. */
  readonly source: string;
  /** What to do when it fails, as a sentence. */
  readonly advice?: string;
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
  const { source, advice, load, clock = systemClock } = options;
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
      const message = `Cannot get credentials from ${source}${reason}.${advice ? ` ${advice}` : ""}`;
      throw new AgentError("model_auth", message, { cause });
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

/** Headers that authenticate a request, and their renewal after they were refused. */
export type HeaderAuth = {
  headers(): Promise<Readonly<Record<string, string>>>;
  renew(sent: Readonly<Record<string, string>>): Promise<boolean>;
};

/** Sends the credential as headers, of which `authorization` differs for each credential. */
export function createHeaderAuth(options: CredentialOptions<Readonly<Record<string, string>>>): HeaderAuth {
  const credential = createCredential(options);
  return {
    headers: credential.get,
    renew: (sent) => credential.renew(({ authorization }) => authorization === sent.authorization),
  };
}

/** Sends the tokens of a function as bearer tokens. */
export function createTokenAuth(getToken: TokenProvider, clock?: Clock): HeaderAuth {
  return createHeaderAuth({
    source: "`token`",
    clock,
    async load() {
      const token: unknown = await getToken();
      if (typeof token === "string" && token !== "") return { value: { authorization: `Bearer ${token}` } };
      throw new AgentError("model_auth", "`token` returned no access token.");
    },
  });
}

type Peer = {
  readonly name: string;
  /** The feature that needs it, in the plural. */
  readonly user: string;
  /** What to do instead of installing it; follows "Run `npm install …`, ". */
  readonly advice: string;
};

/** Imports an optional package. Its name is a variable, so that bundles for browsers leave it out. */
export async function importPeer<Module>({ name, user, advice }: Peer): Promise<Module> {
  return import(/* @vite-ignore */ name).catch((cause: unknown) => {
    const message = `${user} need the package ${name}. Run \`npm install ${name}\`, ${advice}.`;
    throw new AgentError("model_auth", message, { cause });
  });
}

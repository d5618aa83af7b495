import { AgentError, type Json, type Store, systemClock } from "capstan";
import { readCookie } from "../http/cookie.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import { checkQuotas, type QuotaSettings, type Quotas } from "./quotas.ts";
import type { SignedInUser, SignIns } from "./sign-ins.ts";

/** Returns the caller of a request. Throws `unauthorized`. */
export type Authenticator = (request: Request) => Promise<Caller>;

type AuthenticatorOptions = {
  readonly keys: ApiKeys;
  readonly signIns: SignIns;
  readonly quotas: Pick<QuotaSource, "resolve">;
};

/** Authenticates by key (`Authorization` or, from Anthropic's clients, `x-api-key`) or sign-in cookie. While no key exists, every caller is the local user. */
export function createAuthenticator({ keys, signIns, quotas: source }: AuthenticatorOptions): Authenticator {
  /** While no key exists, nothing is limited by default. */
  async function createLocalCaller(): Promise<Caller> {
    const quotas = {
      streams: "unlimited",
      concurrentRuns: "unlimited",
      ...(await source.resolve("")),
    } as const;
    return { user: "", scope: "", isAdmin: true, quotas };
  }

  function verifyCredentials(request: Request): Promise<SignedInUser | undefined> {
    const authorization = request.headers.get("authorization");
    if (authorization !== null) return keys.check(/^Bearer (\S+)$/i.exec(authorization)?.[1] ?? "");
    const key = request.headers.get("x-api-key");
    if (key !== null) return keys.check(key);
    const token = readCookie(request);
    return token === undefined ? Promise.resolve(undefined) : signIns.check(token);
  }

  return async (request) => {
    if (!(await keys.areNeeded())) return createLocalCaller();
    const found = await verifyCredentials(request);
    if (!found)
      throw new AgentError("unauthorized", "Authentication required. Send `Authorization: Bearer <key>`.");
    const { user, isAdmin } = found;
    return { user, scope: user, isAdmin, quotas: await source.resolve(user, found.quotas) };
  };
}

/** Quotas in the store, which the command line and admins set. They override the configuration. */
export interface StoredQuotas {
  /** Returns what is stored for a user, or for all users without one. */
  get(user?: string): Promise<Quotas>;
  /** Replaces the quotas of a user, or of all users without one. Empty quotas remove them. Throws `invalid_input`. */
  set(user: string | undefined, quotas: Quotas): Promise<void>;
  /** Returns the users with quotas that differ from the default. */
  listUsers(): Promise<readonly string[]>;
}

const recordKind = "quotas";
const defaultId = "default";
const userPrefix = "user:";

export function storedQuotas(store: Store): StoredQuotas {
  const toId = (user?: string) => (user === undefined ? defaultId : userPrefix + user);
  return {
    async get(user) {
      return ((await store.getRecord(recordKind, toId(user)))?.body ?? {}) as Quotas;
    },
    async set(user, quotas) {
      const body = checkQuotas(quotas) as Json;
      const id = toId(user);
      const { version = 0 } = (await store.getRecord(recordKind, id)) ?? {};
      if (Object.keys(quotas).length > 0)
        await store.putRecord({ kind: recordKind, id, body, replaces: true }, version);
      else if (version > 0) await store.removeRecord(recordKind, id, version);
    },
    async listUsers() {
      const ids = (await store.listRecords(recordKind)).map(({ id }) => id);
      return ids.filter((id) => id.startsWith(userPrefix)).map((id) => id.slice(userPrefix.length));
    },
  };
}

/** The quotas of a server, from its configuration and its store. */
export interface QuotaSource {
  readonly configured: QuotaSettings;
  readonly stored: StoredQuotas;
  /** Returns the quotas of a user: the default, configured and stored, then the user's, then the key's. */
  resolve(user: string, ofKey?: Quotas): Promise<Quotas>;
}

const recheckMs = 1000;
const maxCachedUsers = 10_000;

type CachedQuotas = { readonly at: number; readonly quotas: Promise<Quotas> };

/** Reads the store once per user and second. */
export function createQuotaSource(
  store: Store,
  configured: QuotaSettings = {},
  now: () => number = systemClock.monotonic,
): QuotaSource {
  for (const quotas of [configured.default ?? [], Object.values(configured.users ?? {})].flat())
    checkQuotas(quotas);
  const stored = storedQuotas(store);
  const cache = new Map<string, CachedQuotas>();

  async function load(user: string): Promise<Quotas> {
    const [ofAll, ofUser] = await Promise.all([stored.get(), stored.get(user)]);
    const { default: ofConfig, users = {} } = configured;
    return { ...ofConfig, ...ofAll, ...(Object.hasOwn(users, user) && users[user]), ...ofUser };
  }

  return {
    configured,
    stored: {
      ...stored,
      async set(user, quotas) {
        await stored.set(user, quotas);
        cache.clear();
      },
    },
    async resolve(user, ofKey) {
      let cached = cache.get(user);
      if (!cached || now() - cached.at >= recheckMs) {
        if (cache.size >= maxCachedUsers) cache.clear();
        cached = { at: now(), quotas: load(user) };
        cached.quotas.catch(() => cache.delete(user));
        cache.set(user, cached);
      }
      return { ...(await cached.quotas), ...ofKey };
    },
  };
}

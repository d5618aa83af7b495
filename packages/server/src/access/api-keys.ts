import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type Json, type Store, systemClock } from "capstan";
import type { UserLimits } from "./caller.ts";

/** A key as it is kept: what proves it is not in it. */
export type ApiKey = {
  readonly id: string;
  /** Whose it is; empty for the one whose sessions have no scope. */
  readonly user: string;
  readonly isAdmin: boolean;
  readonly limits?: Partial<UserLimits>;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly isRevoked: boolean;
};

/** The keys of a server. */
export interface ApiKeys {
  /** Whether a key was ever set: from then on one is always needed. */
  areNeeded(): Promise<boolean>;
  /** Whose key it is; undefined for one that is not good. */
  check(secret: string): Promise<ApiKey | undefined>;
  /** The key of this id, as long as it is good. */
  find(id: string): Promise<ApiKey | undefined>;
  /** Makes a key. Its secret is in the answer, and nowhere else. */
  create(key: NewKey): Promise<ApiKey & { readonly secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  /** From now on it opens nothing. That there was a key is not forgotten. */
  revoke(id: string): Promise<void>;
}

export type NewKey = Pick<ApiKey, "user"> & Partial<Pick<ApiKey, "isAdmin" | "limits" | "expiresAt">>;

export type ApiKeysOptions = {
  /** The key of the local user, which is in no store. */
  readonly own?: string | undefined;
  /** Milliseconds since the epoch, never back within a process. */
  readonly now?: () => number;
};

/** As stored. `hash`: SHA-256 of the whole secret. `isExpired`: it was seen, so a clock that is set back does not help. */
type Kept = Omit<ApiKey, "id"> & { readonly hash: string; readonly isExpired?: true };

const kind = "key";
/** Of the record that says that there was a key: it is never removed. */
const mark = { kind: "key-set", id: "ever" };
const lookEveryMs = 1000;
const longestSecret = 256;
/** What can be sent in a header, and is too long to be guessed. */
const usable = /^[!-~]{16,256}$/;

/**
 * Keys in a store, and the one of the local user. A secret is `cap_<id>_<256 random bits>`, so that one look by id finds
 * the hash it is compared with.
 */
export function apiKeys(store: Store, { own, now = systemClock.now }: ApiKeysOptions = {}): ApiKeys {
  if (own !== undefined && !usable.test(own))
    throw new AgentError("invalid_definition", "A key has at least 16 characters, and no blanks among them.");
  const ownHash = own === undefined ? undefined : hashOf(own);
  const local: ApiKey = { id: `own-${ownHash}`, user: "", isAdmin: true, createdAt: 0, isRevoked: false };
  let isSet = own !== undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function areNeeded(): Promise<boolean> {
    if (isSet || now() - lookedAt < lookEveryMs) return isSet;
    const found = await store.getRecord(mark.kind, mark.id);
    lookedAt = now();
    isSet ||= found !== undefined;
    return isSet;
  }

  /** One that is neither revoked nor over. */
  async function good(id: string): Promise<(Kept & { readonly id: string }) | undefined> {
    const record = await store.getRecord(kind, id);
    const kept = record?.body as Kept | undefined;
    if (!record || !kept || kept.isRevoked || kept.isExpired) return undefined;
    if (kept.expiresAt === undefined || now() < kept.expiresAt) return { ...kept, id };
    await put(id, { ...kept, isExpired: true }, record.version).catch(unlessTaken);
    return undefined;
  }

  async function put(id: string, kept: Kept, version: number): Promise<void> {
    await store.putRecord({ kind, id, body: kept as unknown as Json, replaces: true }, version);
  }

  return {
    areNeeded,
    async find(id) {
      if (ownHash !== undefined && id === local.id) return local;
      const found = await good(id);
      return found && shown(found.id, found);
    },
    async check(secret) {
      if (secret.length > longestSecret) return undefined;
      const hash = hashOf(secret);
      if (ownHash !== undefined && isSame(hash, ownHash)) return local;
      const id = /^cap_([\da-f]{16})_[\w-]{43}$/.exec(secret)?.[1];
      const found = id === undefined ? undefined : await good(id);
      return found && isSame(hash, found.hash) ? shown(found.id, found) : undefined;
    },
    async create({ user, isAdmin = false, limits, expiresAt }) {
      assertUserName(user);
      const id = randomBytes(8).toString("hex");
      const secret = `cap_${id}_${randomBytes(32).toString("base64url")}`;
      const kept: Kept = {
        ...{ user, isAdmin, createdAt: now(), isRevoked: false, hash: hashOf(secret) },
        ...(limits && { limits: checkedLimits(limits) }),
        ...(expiresAt !== undefined && { expiresAt }),
      };
      if (!(await store.getRecord(mark.kind, mark.id)))
        await store.putRecord({ ...mark, body: true }, 0).catch(unlessTaken);
      isSet = true;
      await put(id, kept, 0);
      return { ...shown(id, kept), secret };
    },
    async list() {
      return (await store.listRecords(kind)).map(({ id, body }) => shown(id, body as unknown as Kept));
    },
    async revoke(id) {
      const record = await store.getRecord(kind, id);
      if (!record) throw new AgentError("not_found", `There is no key "${id}".`);
      await put(id, { ...(record.body as unknown as Kept), isRevoked: true }, record.version);
    },
  };
}

function shown(id: string, { hash: _, isExpired: __, ...rest }: Kept): ApiKey {
  return { ...rest, id };
}

function checkedLimits(limits: Partial<UserLimits>): Partial<UserLimits> {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isFinite(value) || value < 0)
      throw new AgentError("invalid_input", `The limit "${name}" is a number from 0: leave it out for none.`);
  return limits;
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Takes as long for a near miss as for any other. */
function isSame(hash: string, other: string): boolean {
  const [one, two] = [Buffer.from(hash), Buffer.from(other)];
  return one.length === two.length && timingSafeEqual(one, two);
}

/** Somebody else has written the same. */
function unlessTaken(thrown: unknown): void {
  if (!(thrown instanceof AgentError && thrown.code === "position_conflict")) throw thrown;
}

/**
 * Throws `invalid_input` for what cannot be the name of a user: it begins the ids of their sessions, up to the `~`, and is
 * compared as bytes, so it has no letter that can be written in two ways. Empty is the local user.
 */
export function assertUserName(user: string): void {
  if (user === "" || /^[\w.-]{1,64}$/.test(user)) return;
  const message = `"${user.slice(0, 100)}" cannot be the name of a user: use 1 to 64 of a-z, A-Z, 0-9, "_", "." and "-".`;
  throw new AgentError("invalid_input", message);
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type Json, type Store, systemClock } from "capstan";
import { checkQuotas, type Quotas } from "./quotas.ts";

/** A stored API key, without its secret. */
export type ApiKey = {
  readonly id: string;
  /** Empty for the local user, whose sessions have no scope. */
  readonly user: string;
  readonly isAdmin: boolean;
  /** Override the user's for requests with this key. Usage is counted per user. */
  readonly quotas?: Quotas;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly isRevoked: boolean;
};

/** The API keys of a server. */
export interface ApiKeys {
  /** True once any key was created or configured, even if it was revoked later. */
  areNeeded(): Promise<boolean>;
  /** Returns the key of a secret, undefined if it is unknown, revoked or expired. */
  check(secret: string): Promise<ApiKey | undefined>;
  /** Returns the key with this id unless it is revoked or expired. */
  find(id: string): Promise<ApiKey | undefined>;
  /** Creates a key. Only this result contains the secret. */
  create(key: NewKey): Promise<ApiKey & { readonly secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  /** Revokes a key. `areNeeded` stays true. */
  revoke(id: string): Promise<void>;
}

export type NewKey = Pick<ApiKey, "user"> & Partial<Pick<ApiKey, "isAdmin" | "quotas" | "expiresAt">>;

export type ApiKeysOptions = {
  /** Key of the local user. It is not stored. */
  readonly own?: string | undefined;
  /** Current time in milliseconds. Must not go backwards within a process. */
  readonly now?: () => number;
};

/**
 * Record body. `hash` is the SHA-256 of the secret. `isExpired` is set on first detection, so that setting the clock
 * back does not revive a key.
 */
type StoredKey = Omit<ApiKey, "id"> & { readonly hash: string; readonly isExpired?: true };

const recordKind = "key";
/** Marks that a key was created; never removed. */
const keyMarker = { kind: "key-set", id: "ever" };
const recheckMs = 1000;
const maxSecretLength = 256;
/** Printable ASCII, usable in a header and long enough to resist guessing. */
const secretPattern = /^[!-~]{16,256}$/;

/**
 * Opens the keys in a store, plus the key of the local user. A secret is `cap_<id>_<256 random bits>`, so the record
 * with its hash is found by id.
 */
export function apiKeys(store: Store, { own, now = systemClock.now }: ApiKeysOptions = {}): ApiKeys {
  if (own !== undefined && !secretPattern.test(own))
    throw new AgentError(
      "invalid_definition",
      "A key must have 16 to 256 printable characters without spaces.",
    );
  const ownHash = own === undefined ? undefined : hashSecret(own);
  const local: ApiKey = { id: `own-${ownHash}`, user: "", isAdmin: true, createdAt: 0, isRevoked: false };
  let isSet = own !== undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  async function areNeeded(): Promise<boolean> {
    if (isSet || now() - checkedAt < recheckMs) return isSet;
    const found = await store.getRecord(keyMarker.kind, keyMarker.id);
    checkedAt = now();
    isSet ||= found !== undefined;
    return isSet;
  }

  async function findValidKey(id: string): Promise<(StoredKey & { readonly id: string }) | undefined> {
    const record = await store.getRecord(recordKind, id);
    const stored = record?.body as StoredKey | undefined;
    if (!record || !stored || stored.isRevoked || stored.isExpired) return undefined;
    if (stored.expiresAt === undefined || now() < stored.expiresAt) return { ...stored, id };
    await storeKey(id, { ...stored, isExpired: true }, record.version).catch(ignoreConflict);
    return undefined;
  }

  async function storeKey(id: string, stored: StoredKey, version: number): Promise<void> {
    await store.putRecord({ kind: recordKind, id, body: stored as unknown as Json, replaces: true }, version);
  }

  return {
    areNeeded,
    async find(id) {
      if (ownHash !== undefined && id === local.id) return local;
      const found = await findValidKey(id);
      return found && toApiKey(found.id, found);
    },
    async check(secret) {
      if (secret.length > maxSecretLength) return undefined;
      const hash = hashSecret(secret);
      if (ownHash !== undefined && equalsHash(hash, ownHash)) return local;
      const id = /^cap_([\da-f]{16})_[\w-]{43}$/.exec(secret)?.[1];
      const found = id === undefined ? undefined : await findValidKey(id);
      return found && equalsHash(hash, found.hash) ? toApiKey(found.id, found) : undefined;
    },
    async create({ user, isAdmin = false, quotas, expiresAt }) {
      assertUserName(user);
      const id = randomBytes(8).toString("hex");
      const secret = `cap_${id}_${randomBytes(32).toString("base64url")}`;
      const stored: StoredKey = {
        ...{ user, isAdmin, createdAt: now(), isRevoked: false, hash: hashSecret(secret) },
        ...(quotas && { quotas: checkQuotas(quotas) }),
        ...(expiresAt !== undefined && { expiresAt }),
      };
      if (!(await store.getRecord(keyMarker.kind, keyMarker.id)))
        await store.putRecord({ ...keyMarker, body: true }, 0).catch(ignoreConflict);
      isSet = true;
      await storeKey(id, stored, 0);
      return { ...toApiKey(id, stored), secret };
    },
    async list() {
      return (await store.listRecords(recordKind)).map(({ id, body }) =>
        toApiKey(id, body as unknown as StoredKey),
      );
    },
    async revoke(id) {
      const record = await store.getRecord(recordKind, id);
      if (!record) throw new AgentError("not_found", `Key not found: "${id}".`);
      await storeKey(id, { ...(record.body as unknown as StoredKey), isRevoked: true }, record.version);
    },
  };
}

function toApiKey(id: string, { hash: _, isExpired: __, ...rest }: StoredKey): ApiKey {
  return { ...rest, id };
}

function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in constant time. */
function equalsHash(hash: string, other: string): boolean {
  const [one, two] = [Buffer.from(hash), Buffer.from(other)];
  return one.length === two.length && timingSafeEqual(one, two);
}

/** Ignores the error of a concurrent write of the same record. */
function ignoreConflict(thrown: unknown): void {
  if (!(thrown instanceof AgentError && thrown.code === "position_conflict")) throw thrown;
}

/**
 * Throws `invalid_input` for an invalid user name. Session ids begin with the name up to `~` and are compared as
 * bytes, so only unambiguous characters are allowed. An empty name is the local user.
 */
export function assertUserName(user: string): void {
  if (user === "" || /^[\w.-]{1,64}$/.test(user)) return;
  const message = `Invalid user name "${user.slice(0, 100)}". Use 1 to 64 of a-z, A-Z, 0-9, "_", "." and "-".`;
  throw new AgentError("invalid_input", message);
}

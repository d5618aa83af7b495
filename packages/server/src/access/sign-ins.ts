import { createHash, randomBytes } from "node:crypto";
import { type Json, type Store, systemClock } from "capstan";
import { type ApiKey, type ApiKeys, assertUserName } from "./api-keys.ts";

/** What a browser presents to sign in: a one-time code or a key. */
export type SignInProof = { readonly code: string } | { readonly key: string };

export type SignedInUser = Pick<ApiKey, "user" | "isAdmin" | "quotas">;

/** Sign-ins of browsers, which hold a token in a cookie instead of a key. */
export interface SignIns {
  /** Returns a code that works once, within two minutes. */
  createCode(user?: string): string;
  /** Returns a new token, undefined if the proof is invalid. */
  open(proof: SignInProof): Promise<string | undefined>;
  check(token: string): Promise<SignedInUser | undefined>;
  /** Invalidates a token. */
  close(token: string): Promise<void>;
}

export const signInSeconds: number = 12 * 3600;

const codeMs = 120_000;
const signInKind = "sign-in";

/** Record body, stored under the hash of the token. With `keyId`, the sign-in ends when the key does. */
type StoredSignIn = { readonly user: string; readonly expiresAt: number; readonly keyId?: string };

type SignInsOptions = { readonly keys: ApiKeys; readonly now?: () => number };

/** Keeps codes in memory and hashed tokens in the store. */
export function createSignIns(store: Store, { keys, now = systemClock.now }: SignInsOptions): SignIns {
  const codes = new Map<string, { readonly user: string; readonly expiresAt: number }>();

  async function verifyProof(proof: SignInProof): Promise<Omit<StoredSignIn, "expiresAt"> | undefined> {
    if ("key" in proof) {
      const key = await keys.check(proof.key);
      return key && { user: key.user, keyId: key.id };
    }
    const hash = hashToken(proof.code);
    const code = codes.get(hash);
    codes.delete(hash);
    return code && now() < code.expiresAt ? { user: code.user } : undefined;
  }

  async function removeSignIn(id: string): Promise<void> {
    const record = await store.getRecord(signInKind, id);
    // A concurrent request may have removed it.
    if (record) await store.removeRecord(signInKind, id, record.version).catch(() => undefined);
  }

  async function removeExpired(): Promise<void> {
    for (const { id, body } of await store.listRecords(signInKind))
      if ((body as unknown as StoredSignIn).expiresAt <= now()) await removeSignIn(id);
  }

  return {
    createCode(user = "") {
      assertUserName(user);
      for (const [hash, { expiresAt }] of codes) if (expiresAt <= now()) codes.delete(hash);
      const code = randomBytes(32).toString("base64url");
      codes.set(hashToken(code), { user, expiresAt: now() + codeMs });
      return code;
    },
    async open(proof) {
      const verified = await verifyProof(proof);
      if (!verified) return undefined;
      await removeExpired();
      const token = randomBytes(32).toString("base64url");
      const stored: StoredSignIn = { ...verified, expiresAt: now() + signInSeconds * 1000 };
      await store.putRecord({ kind: signInKind, id: hashToken(token), body: stored as unknown as Json }, 0);
      return token;
    },
    async check(token) {
      const id = hashToken(token);
      const stored = (await store.getRecord(signInKind, id))?.body as StoredSignIn | undefined;
      if (!stored) return undefined;
      if (stored.expiresAt <= now()) await removeSignIn(id);
      else if (stored.keyId !== undefined) return keys.find(stored.keyId);
      else return { user: stored.user, isAdmin: stored.user === "" };
      return undefined;
    },
    close: (token) => removeSignIn(hashToken(token)),
  };
}

function hashToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

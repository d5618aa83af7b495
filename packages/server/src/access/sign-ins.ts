import { createHash, randomBytes } from "node:crypto";
import { type Json, type Store, systemClock } from "capstan";
import { type ApiKey, type ApiKeys, assertUserName } from "./api-keys.ts";

/** What somebody shows to sign in: a code that was made for them, or their key. */
export type Proof = { readonly code: string } | { readonly key: string };

/** Who has signed in. */
export type SignedIn = Pick<ApiKey, "user" | "isAdmin" | "limits">;

/** Browsers that have signed in: they hold a token in a cookie instead of a key. */
export interface SignIns {
  /** A code that opens this server once, in the next two minutes. */
  oneTimeCode(user?: string): string;
  /** A new token, or undefined when the proof is not good. */
  open(proof: Proof): Promise<string | undefined>;
  check(token: string): Promise<SignedIn | undefined>;
  /** Forgets a token. */
  close(token: string): Promise<void>;
}

/** How long a browser stays signed in. */
export const signedInSeconds: number = 12 * 3600;

const codeMs = 120_000;
const kind = "sign-in";

/** As stored, under the hash of its token. `keyId`: good as long as that key is. */
type Kept = { readonly user: string; readonly expiresAt: number; readonly keyId?: string };

type SignInsOptions = { readonly keys: ApiKeys; readonly now?: () => number };

/** Codes are in the memory of this process; tokens are in the store, hashed. */
export function signIns(store: Store, { keys, now = systemClock.now }: SignInsOptions): SignIns {
  const codes = new Map<string, { readonly user: string; readonly expiresAt: number }>();

  async function proven(proof: Proof): Promise<Omit<Kept, "expiresAt"> | undefined> {
    if ("key" in proof) {
      const key = await keys.check(proof.key);
      return key && { user: key.user, keyId: key.id };
    }
    const hash = hashOf(proof.code);
    const code = codes.get(hash);
    codes.delete(hash);
    return code && now() < code.expiresAt ? { user: code.user } : undefined;
  }

  async function forget(id: string): Promise<void> {
    const record = await store.getRecord(kind, id);
    // Whoever was faster has removed it.
    if (record) await store.removeRecord(kind, id, record.version).catch(() => undefined);
  }

  async function forgetOld(): Promise<void> {
    for (const { id, body } of await store.listRecords(kind))
      if ((body as unknown as Kept).expiresAt <= now()) await forget(id);
  }

  return {
    oneTimeCode(user = "") {
      assertUserName(user);
      for (const [hash, { expiresAt }] of codes) if (expiresAt <= now()) codes.delete(hash);
      const code = randomBytes(32).toString("base64url");
      codes.set(hashOf(code), { user, expiresAt: now() + codeMs });
      return code;
    },
    async open(proof) {
      const who = await proven(proof);
      if (!who) return undefined;
      await forgetOld();
      const token = randomBytes(32).toString("base64url");
      const kept: Kept = { ...who, expiresAt: now() + signedInSeconds * 1000 };
      await store.putRecord({ kind, id: hashOf(token), body: kept as unknown as Json }, 0);
      return token;
    },
    async check(token) {
      const id = hashOf(token);
      const kept = (await store.getRecord(kind, id))?.body as Kept | undefined;
      if (!kept) return undefined;
      if (kept.expiresAt <= now()) await forget(id);
      else if (kept.keyId !== undefined) return keys.find(kept.keyId);
      else return { user: kept.user, isAdmin: kept.user === "" };
      return undefined;
    },
    close: (token) => forget(hashOf(token)),
  };
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

import { createHash, randomBytes } from "node:crypto";
import { AgentError } from "capstan";

/** Maps one user's session ids to keys in a shared store. */
export type SessionKeys = {
  /** Returns the key in the store. The same id of another user has another key. */
  toKey(sessionId: string): string;
  /** Returns the id for a key, or undefined if the session belongs to another user. */
  toId(key: string): string | undefined;
};

const sessionIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the prefix of a user's keys, which no other user may share. */
export type SessionPrefix = (user: string | undefined) => string;

/** Does not reveal the user. */
export const hashPrefix: SessionPrefix = (user) => {
  const owner = createHash("sha256")
    .update(JSON.stringify([user ?? null]))
    .digest("hex")
    .slice(0, 32);
  return `mcp_${owner}_`;
};

/** Creates keys with the user's prefix, so that no id can reach another user's session. */
export function createSessionKeys(prefix: string): SessionKeys {
  return {
    toKey(sessionId) {
      if (sessionIdPattern.test(sessionId)) return prefix + sessionId;
      const message =
        "Invalid sessionId: use 1 to 128 letters, digits, `_` or `-`. Omit it to start a new session, then pass the `session` of the answer.";
      throw new AgentError("invalid_input", message);
    },
    toId: (key) => (key.startsWith(prefix) ? key.slice(prefix.length) : undefined),
  };
}

/** 192 random bits. */
export function createSessionId(): string {
  return randomBytes(24).toString("base64url");
}

import { createHash, randomBytes } from "node:crypto";
import { AgentError } from "capstan";

/** The sessions of one user in a store that others use too. */
export type SessionKeys = {
  /** Where the session is kept. The same id of another user is another session. */
  keyOf(sessionId: string): string;
  /** The id behind a key, or undefined for a session that is not this user's. */
  idOf(key: string): string | undefined;
};

const wellFormed = /^[A-Za-z0-9_-]{1,128}$/;

/** What the keys of a user's sessions begin with, and those of nobody else. */
export type SessionPrefix = (user: string | undefined) => string;

/** Tells nothing of the user. */
export const hashedPrefix: SessionPrefix = (user) => {
  const owner = createHash("sha256")
    .update(JSON.stringify([user ?? null]))
    .digest("hex")
    .slice(0, 32);
  return `mcp_${owner}_`;
};

/** Keys that begin with what only this user's begin with, so that no id can reach another's session. */
export function sessionKeys(prefix: string): SessionKeys {
  return {
    keyOf(sessionId) {
      if (wellFormed.test(sessionId)) return prefix + sessionId;
      const message =
        "A sessionId has 1 to 128 letters, digits, `_` or `-`. Leave it out for a new session, and go on with the one in the answer.";
      throw new AgentError("invalid_input", message);
    },
    idOf: (key) => (key.startsWith(prefix) ? key.slice(prefix.length) : undefined),
  };
}

/** An id that cannot be guessed: 192 random bits. */
export function newSessionId(): string {
  return randomBytes(24).toString("base64url");
}

import { AgentError } from "capstan";

/**
 * Throws `invalid_input` for what cannot be the name of a user: it begins the ids of their sessions, up to the `~`, and is
 * compared as bytes, so it has no letter that can be written in two ways. Empty is the local user.
 */
export function assertUserName(user: string): void {
  if (user === "" || /^[\w.-]{1,64}$/.test(user)) return;
  const message = `"${user.slice(0, 100)}" cannot be the name of a user: use 1 to 64 of a-z, A-Z, 0-9, "_", "." and "-".`;
  throw new AgentError("invalid_input", message);
}

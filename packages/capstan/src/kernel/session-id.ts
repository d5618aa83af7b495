/** Returns the scope of a session, such as its user: the part of the id before the first `~`. */
export function getScope(sessionId: string): string {
  return sessionId.slice(0, Math.max(0, sessionId.indexOf("~")));
}

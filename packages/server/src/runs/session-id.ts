/** A new session of a user, see `scopeOf`; always the same one for the same seed. */
export function newSessionId(scope: string, seed: string = crypto.randomUUID()): string {
  return scope ? `${scope}~ses_${seed}` : `ses_${seed}`;
}

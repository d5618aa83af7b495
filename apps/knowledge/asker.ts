/** The user that a run is for, as the server puts it into `context`: `{ user }`, empty for the local one. */
export function askerOf(context: unknown): string | undefined {
  // A program on this machine that gives no context is the local user's own.
  if (context === undefined) return "";
  if (typeof context !== "object" || context === null) return undefined;
  const user: unknown = Reflect.get(context, "user");
  return typeof user === "string" ? user : undefined;
}

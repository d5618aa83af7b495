/** The run's user, which the server puts into `context` as `{ user }`; empty for the local user. */
export function getUser(context: unknown): string | undefined {
  // A local program that passes no context acts for the local user.
  if (context === undefined) return "";
  if (typeof context !== "object" || context === null) return undefined;
  const user: unknown = Reflect.get(context, "user");
  return typeof user === "string" ? user : undefined;
}

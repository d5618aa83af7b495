/** Whether the client asks for `202 Accepted` instead of a started run: `Prefer: respond-async` (RFC 7240). */
export function prefersAsync({ headers }: Request): boolean {
  const preferences = (headers.get("prefer") ?? "").split(",");
  return preferences.some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async");
}

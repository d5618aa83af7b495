import type { ListedSession } from "capstan/client";

/** Sessions of about the same time, under one heading. */
export type SessionGroup = { readonly title: string; readonly sessions: readonly ListedSession[] };

const dayMs = 86_400_000;

/** In the order they are given, by how long ago they were used. */
export function sessionGroups(sessions: readonly ListedSession[], now: Date): readonly SessionGroup[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const titleOf = ({ updatedAt }: ListedSession) => {
    if (updatedAt >= midnight) return "Today";
    if (updatedAt >= midnight - dayMs) return "Yesterday";
    if (updatedAt >= midnight - 7 * dayMs) return "Last seven days";
    return new Date(updatedAt).toLocaleDateString("en", { month: "long", year: "numeric" });
  };
  return [...Map.groupBy(sessions, titleOf)].map(([title, all]) => ({ title, sessions: all }));
}

import type { ListedSession } from "capstan/client";

/** Sessions grouped by age. */
export type SessionGroup = { readonly title: string; readonly sessions: readonly ListedSession[] };

const dayMs = 86_400_000;

/** Groups sessions by last use, keeping their order. */
export function groupSessions(sessions: readonly ListedSession[], now: Date): readonly SessionGroup[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const getGroupTitle = ({ updatedAt }: ListedSession) => {
    if (updatedAt >= midnight) return "Today";
    if (updatedAt >= midnight - dayMs) return "Yesterday";
    if (updatedAt >= midnight - 7 * dayMs) return "Last 7 days";
    return new Date(updatedAt).toLocaleDateString("en", { month: "long", year: "numeric" });
  };
  return [...Map.groupBy(sessions, getGroupTitle)].map(([title, members]) => ({ title, sessions: members }));
}

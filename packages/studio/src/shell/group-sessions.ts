/** Sessions grouped by age. */
export type SessionGroup<Session> = { readonly title: string; readonly sessions: readonly Session[] };

const dayMs = 86_400_000;

/** Groups sessions by last use, keeping their order. */
export function groupSessions<Session extends { readonly updatedAt: number }>(
  sessions: readonly Session[],
  now: Date,
): readonly SessionGroup<Session>[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const getGroupTitle = ({ updatedAt }: Session) => {
    if (updatedAt >= midnight) return "Today";
    if (updatedAt >= midnight - dayMs) return "Yesterday";
    if (updatedAt >= midnight - 7 * dayMs) return "Last 7 days";
    return new Date(updatedAt).toLocaleDateString("en", { month: "long", year: "numeric" });
  };
  return [...Map.groupBy(sessions, getGroupTitle)].map(([title, members]) => ({ title, sessions: members }));
}

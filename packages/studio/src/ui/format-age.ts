const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Formats a time relative to now. */
export function formatTimeAgo(time: number, now: number): string {
  const ms = Math.max(0, now - time);
  if (ms < minuteMs) return "just now";
  if (ms < 60 * minuteMs) return `${Math.floor(ms / minuteMs)} min ago`;
  if (ms < dayMs) return `${Math.floor(ms / (60 * minuteMs))} h ago`;
  const year = new Date(time).getFullYear() === new Date(now).getFullYear() ? undefined : "numeric";
  return new Date(time).toLocaleDateString("en", { day: "numeric", month: "short", year });
}

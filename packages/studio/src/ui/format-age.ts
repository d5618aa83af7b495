const minuteMs = 60_000;
const dayMs = 86_400_000;

/** When something was, as people say it. */
export function timeAgo(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  if (ms < minuteMs) return "just now";
  if (ms < 60 * minuteMs) return `${Math.floor(ms / minuteMs)} min ago`;
  if (ms < dayMs) return `${Math.floor(ms / (60 * minuteMs))} h ago`;
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? undefined : "numeric";
  return new Date(at).toLocaleDateString("en", { day: "numeric", month: "short", year });
}

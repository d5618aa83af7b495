/** Formats a duration: `40 ms`, `1.3 s`, `12 s`, `2 min 5 s`, `1 h 20 min`. */
export function formatDuration(ms: number): string {
  if (ms < 995) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const wholeMinutes = Math.floor(seconds / 60);
  if (wholeMinutes < 60)
    return seconds % 60 === 0 ? `${wholeMinutes} min` : `${wholeMinutes} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

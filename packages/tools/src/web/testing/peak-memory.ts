/** How many megabytes the process grew by at most while `work` went on. */
export async function peakMemory(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 2);
  await work();
  look();
  clearInterval(timer);
  return (peak - before) / 1_000_000;
}

/** Returns the peak growth of the process in megabytes while `work` runs. */
export async function measurePeakMemory(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampleMemory = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(sampleMemory, 2);
  await work();
  sampleMemory();
  clearInterval(timer);
  return (peak - before) / 1_000_000;
}

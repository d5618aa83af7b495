/**
 * Returns the CPU time that this process has used, in milliseconds. Unlike wall time it stops while other
 * processes have the CPU, so a test may set a limit on it.
 */
export function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The same for the calling thread alone, where Node can tell: two readings say how long the event loop was blocked. */
export function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

/** Measures the longest CPU time for which the event loop was blocked, in milliseconds. */
export async function measureLongestGap<Value>(
  work: () => Promise<Value>,
): Promise<{ value: Value; gapMs: number }> {
  let last = readThreadCpuMs();
  let gapMs = 0;
  const ticker = setInterval(() => {
    const now = readThreadCpuMs();
    gapMs = Math.max(gapMs, now - last);
    last = now;
  }, 20);
  try {
    const value = await work();
    return { value, gapMs: Math.max(gapMs, readThreadCpuMs() - last) };
  } finally {
    clearInterval(ticker);
  }
}

/**
 * Returns the CPU time that this process has used, in milliseconds. Unlike wall time it stands still while other
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

/** Trials are short: no retry waits for long, and what Restate did not receive is found soon. */
export const quickRetries = { maxRetryMs: 500, recoverEveryMs: 500 } as const;

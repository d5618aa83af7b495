import { AgentError } from "capstan";
import { openRoot } from "./directory.ts";
import { readStats } from "./read-stats.ts";
import type { Root } from "./root.ts";
import { createWalk, maxDepth, walkDirectory } from "./walk.ts";
import { defaultLimits } from "./workspace.ts";

/** Limits for writing. */
export type Quota = {
  /** Max bytes per file. */
  readonly fileBytes: number;
  /** Max bytes written per run. */
  readonly runBytes: number;
  /** Max files and folders created per run. */
  readonly runFiles: number;
  /** Max bytes in the root. Unlimited by default, because it has to be measured before every write. */
  readonly bytes: number;
  /** Max files and folders in the root. Also measured before every write. */
  readonly files: number;
};

/** No limit for the root as a whole: measuring it takes time. */
export const defaultQuota: Quota = {
  fileBytes: 10_000_000,
  runBytes: 100_000_000,
  runFiles: 1_000,
  bytes: Number.POSITIVE_INFINITY,
  files: Number.POSITIVE_INFINITY,
};

export type FileUsage = { readonly bytes: number; readonly files: number };

export type QuotaTracker = {
  readonly fileBytes: number;
  /** Throws if the run may not write this much more. Does not record anything. */
  checkRun(runId: string, more: FileUsage): void;
  /** Like `checkRun`, and throws if the root may not hold this much more. */
  check(runId: string, more: FileUsage): Promise<void>;
  record(runId: string, usage: FileUsage): void;
};

/** The oldest run is forgotten beyond this number. */
const maxTrackedRuns = 1_000;

/** Tracks the quota of one set of tools, per run. */
export function createQuotaTracker(root: Root, quota: Quota): QuotaTracker {
  const usageByRun = new Map<string, FileUsage>();
  const checkRun: QuotaTracker["checkRun"] = (runId, more) => {
    const usage = usageByRun.get(runId) ?? { bytes: 0, files: 0 };
    assertWithin("bytes per file", more.bytes, quota.fileBytes);
    assertWithin("bytes per run", usage.bytes + more.bytes, quota.runBytes);
    assertWithin("new files per run", usage.files + more.files, quota.runFiles);
  };
  return {
    fileBytes: quota.fileBytes,
    checkRun,
    async check(runId, more) {
      checkRun(runId, more);
      if (Math.min(quota.bytes, quota.files) === Number.POSITIVE_INFINITY) return;
      const rootUsage = await measureUsage(root, quota);
      assertWithin("bytes in the root", rootUsage.bytes + more.bytes, quota.bytes);
      assertWithin("files in the root", rootUsage.files + more.files, quota.files);
    },
    record(runId, { bytes, files }) {
      const usage = usageByRun.get(runId) ?? { bytes: 0, files: 0 };
      usageByRun.delete(runId);
      usageByRun.set(runId, { bytes: usage.bytes + bytes, files: usage.files + files });
      const [oldest] = usageByRun.keys();
      if (usageByRun.size > maxTrackedRuns && oldest !== undefined) usageByRun.delete(oldest);
    },
  };
}

function assertWithin(what: string, wanted: number, allowed: number): void {
  if (wanted <= allowed) return;
  const message = `Quota exceeded: ${what} are limited to ${allowed}, this would be ${wanted}. Nothing was written.`;
  throw new AgentError("tool_failed", message, { retryable: false });
}

/** Measures the root. Stops early once the quota is exceeded. */
async function measureUsage(root: Root, quota: Quota): Promise<FileUsage> {
  const unlimited = { ...defaultLimits, visits: Number.POSITIVE_INFINITY, timeMs: Number.POSITIVE_INFINITY };
  const walk = createWalk(unlimited, {
    depth: maxDepth,
    signal: new AbortController().signal,
    isThorough: true,
  });
  const directory = await openRoot(root);
  let bytes = 0;
  let files = 0;
  try {
    for await (const visited of walkDirectory(directory, walk)) {
      files++;
      if (visited.kind === "file")
        bytes += Number((await readStats(visited.directory.at(visited.name)))?.size ?? 0n);
      if (bytes > quota.bytes || files > quota.files) break;
    }
  } finally {
    await directory.handle.close();
  }
  return { bytes, files };
}

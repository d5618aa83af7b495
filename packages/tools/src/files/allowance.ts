import { AgentError } from "capstan";
import { openRoot, statsAt } from "./directory.ts";
import type { Root } from "./root.ts";
import { mostDepth, newWalk, walkIn } from "./walk.ts";
import { defaultLimits } from "./workspace.ts";

/** How much may be written. */
export type Quota = {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes that one run writes. */
  readonly runBytes: number;
  /** Files and folders that one run makes. */
  readonly runFiles: number;
  /** Bytes that the root holds. Left out of the defaults, for it must be counted before every write. */
  readonly bytes: number;
  /** Files and folders that the root holds. Also counted before every write. */
  readonly files: number;
};

/** For the root as a whole there is none: counting it takes time. */
export const defaultQuota: Quota = {
  fileBytes: 10_000_000,
  runBytes: 100_000_000,
  runFiles: 1_000,
  bytes: Number.POSITIVE_INFINITY,
  files: Number.POSITIVE_INFINITY,
};

/** What was written, or would be. */
export type Spending = { readonly bytes: number; readonly files: number };

/** Keeps count of what was written. */
export type Allowance = {
  readonly fileBytes: number;
  /** Throws when a run may not write so much more. Writes nothing down. */
  checkRun(runId: string, more: Spending): void;
  /** Also when the root may not hold so much more. */
  check(runId: string, more: Spending): Promise<void>;
  spend(runId: string, spent: Spending): void;
};

/** Runs that are remembered; an older one begins anew. */
const mostRuns = 1_000;

/** The allowance of one set of tools; runs are told apart by their ids. */
export function allowanceOf(root: Root, quota: Quota): Allowance {
  const spentBy = new Map<string, Spending>();
  const checkRun: Allowance["checkRun"] = (runId, more) => {
    const spent = spentBy.get(runId) ?? { bytes: 0, files: 0 };
    refuseOver("bytes of one file", more.bytes, quota.fileBytes);
    refuseOver("bytes of this run", spent.bytes + more.bytes, quota.runBytes);
    refuseOver("new files of this run", spent.files + more.files, quota.runFiles);
  };
  return {
    fileBytes: quota.fileBytes,
    checkRun,
    async check(runId, more) {
      checkRun(runId, more);
      if (Math.min(quota.bytes, quota.files) === Number.POSITIVE_INFINITY) return;
      const held = await heldBy(root, quota);
      refuseOver("bytes of the root", held.bytes + more.bytes, quota.bytes);
      refuseOver("files of the root", held.files + more.files, quota.files);
    },
    spend(runId, { bytes, files }) {
      const spent = spentBy.get(runId) ?? { bytes: 0, files: 0 };
      spentBy.delete(runId);
      spentBy.set(runId, { bytes: spent.bytes + bytes, files: spent.files + files });
      const [oldest] = spentBy.keys();
      if (spentBy.size > mostRuns && oldest !== undefined) spentBy.delete(oldest);
    },
  };
}

function refuseOver(what: string, wanted: number, allowed: number): void {
  if (wanted <= allowed) return;
  const message = `The quota of ${what} is ${allowed}, and this would make ${wanted}. Nothing was written.`;
  throw new AgentError("tool_failed", message, { retryable: false });
}

/** What the root holds: all of it, or as much as is over the quota. */
async function heldBy(root: Root, quota: Quota): Promise<Spending> {
  const unlimited = { ...defaultLimits, visits: Number.POSITIVE_INFINITY, timeMs: Number.POSITIVE_INFINITY };
  const walk = newWalk(unlimited, {
    depth: mostDepth,
    signal: new AbortController().signal,
    isThorough: true,
  });
  const directory = await openRoot(root);
  let bytes = 0;
  let files = 0;
  try {
    for await (const visited of walkIn(directory, walk)) {
      files++;
      if (visited.kind === "file")
        bytes += Number((await statsAt(visited.directory.at(visited.name)))?.size ?? 0n);
      if (bytes > quota.bytes || files > quota.files) break;
    }
  } finally {
    await directory.handle.close();
  }
  return { bytes, files };
}

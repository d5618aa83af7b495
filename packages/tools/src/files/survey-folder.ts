import { access, constants } from "node:fs/promises";
import { escapeInvisible } from "capstan";
import { openRoot } from "./directory.ts";
import { getSystemCode } from "./file-errors.ts";
import { type RootOptions, resolveRoot } from "./root.ts";
import { createWalk, maxDepth, skippedFolder, type VisitedEntry, walkDirectory } from "./walk.ts";
import { defaultLimits } from "./workspace.ts";

export type SurveyOptions = RootOptions & {
  readonly signal?: AbortSignal;
  /** Receives the number of files so far, and the folder that is being read. */
  onProgress?(files: number, folder: string): void;
};

/** What the file tools can reach in a folder. */
export type FolderSurvey = {
  readonly files: number;
  /** At most 1,000 entries, with the reason in one sentence. */
  readonly skipped: readonly { readonly item: string; readonly reason: string }[];
};

const maxSkipped = 1_000;
const reasons = {
  protected: "It can hold credentials or control programs: tools cannot read it.",
  packages: "Packages are listed only when a call names this folder.",
  link: "Links are not followed.",
  other: "It is a device, a pipe or a socket.",
} as const;

/** Counts the files in a folder as the file tools see them. Counts at most 100,000 entries. */
export async function surveyFolder(options: SurveyOptions): Promise<FolderSurvey> {
  const { signal = new AbortController().signal, onProgress, ...rootOptions } = options;
  const skipped: { item: string; reason: string }[] = [];
  const skip = (path: string, reason: string) => {
    if (skipped.length < maxSkipped) skipped.push({ item: escapeInvisible(path.toWellFormed()), reason });
  };
  const limits = { ...defaultLimits, timeMs: Number.POSITIVE_INFINITY };
  const onSkip = (path: string, error?: unknown) =>
    skip(path, error === undefined ? reasons.protected : formatSkipReason(error));
  const walk = createWalk(limits, { depth: maxDepth, signal, onSkip });
  let files = 0;
  const top = await openRoot(resolveRoot(rootOptions));
  try {
    for await (const visited of walkDirectory(top, walk)) {
      const path = [...visited.directory.names, visited.name].join("/");
      const reason = await findReason(visited);
      if (reason !== undefined) skip(path, reason);
      else if (visited.kind === "file") files++;
      else onProgress?.(files, path);
    }
  } finally {
    await top.handle.close();
  }
  if (walk.stopReason !== undefined)
    skip(".", `More than ${limits.visits} entries: the others were not counted.`);
  return { files, skipped };
}

/** Returns why the tools cannot read an entry, or do not enter it. */
async function findReason({ directory, name, kind }: VisitedEntry): Promise<string | undefined> {
  if (kind === "link" || kind === "other") return reasons[kind];
  if (kind === "folder") return name === skippedFolder ? reasons.packages : undefined;
  return access(directory.at(name), constants.R_OK).then(() => undefined, formatSkipReason);
}

function formatSkipReason(error: unknown): string {
  const code = getSystemCode(error);
  if (code === "EACCES" || code === "EPERM") return "Permission denied.";
  if (code === "ENOENT") return "It was removed while the folder was read.";
  return error instanceof Error && code === undefined ? error.message : `System error ${code}.`;
}

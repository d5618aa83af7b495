import { AgentError, type Tool } from "capstan";
import { type EditFileCall, editFileTool } from "./files/edit-file.ts";
import { type ListFilesCall, listFilesTool } from "./files/list-files.ts";
import { createQuotaTracker, defaultQuota, type Quota } from "./files/quota.ts";
import { type ReadFileCall, readFileTool } from "./files/read-file.ts";
import { type RootOptions, resolveRoot } from "./files/root.ts";
import { type SearchFilesCall, searchFilesTool } from "./files/search-files.ts";
import { createSeenFiles } from "./files/seen-files.ts";
import { assertNumbers, defaultLimits, type FileLimits, type Workspace } from "./files/workspace.ts";
import { type WriteFileCall, writeFileTool } from "./files/write-file.ts";

export type FileToolsOptions = RootOptions & {
  /** Omits `write_file` and `edit_file`. */
  readonly readOnly?: boolean;
  readonly quota?: Partial<Quota>;
  readonly limits?: Partial<FileLimits>;
};

type FileCall = ReadFileCall | ListFilesCall | SearchFilesCall | WriteFileCall | EditFileCall;

const optionNames = ["root", "protect", "strict", "provenance", "readOnly", "quota", "limits"];

/**
 * Creates `read_file`, `list_files`, `search_files`, `write_file` and `edit_file` for one folder. The tools never follow
 * links, leave the root or touch protected files. Writing requires approval. The folder is the user's: results are
 * private, and untrusted only if they show a file from outside.
 */
export function fileTools(options: FileToolsOptions): readonly Tool<FileCall, unknown>[] {
  const { readOnly = false, quota = {}, limits = {} } = options;
  for (const field of Object.keys(options)) {
    if (optionNames.includes(field)) continue;
    const message = `Unknown option "${field}" for fileTools. Options: ${optionNames.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  }
  assertNumbers("quota of fileTools", quota, defaultQuota);
  assertNumbers("limits of fileTools", limits, defaultLimits);
  const root = resolveRoot(options);
  const workspace: Workspace = {
    root,
    limits: { ...defaultLimits, ...limits },
    reads: root.external === "all" ? ["private", "untrusted"] : ["private"],
    seen: createSeenFiles(),
  };
  const readTools = [readFileTool(workspace), listFilesTool(workspace), searchFilesTool(workspace)];
  if (readOnly) return readTools;
  const quotaTracker = createQuotaTracker(root, { ...defaultQuota, ...quota });
  const writable = { ...workspace, quota: quotaTracker, queue: createQueue() };
  return [...readTools, writeFileTool(writable), editFileTool(writable)];
}

/** Runs actions one at a time. A failed action does not block the next one. */
function createQueue(): <Value>(action: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const result = last.then(action);
    last = result.catch(() => undefined);
    return result;
  };
}

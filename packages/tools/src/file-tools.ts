import { resolve } from "node:path";
import { AgentError, type Tool } from "capstan";
import { defaultUndoLimits, openChangeHistory, type UndoOptions } from "./files/change-history.ts";
import { type EditFileCall, editFileTool } from "./files/edit-file.ts";
import { type ListFilesCall, listFilesTool } from "./files/list-files.ts";
import { createQuotaTracker, defaultQuota, type Quota } from "./files/quota.ts";
import { type ReadFileCall, readFileTool } from "./files/read-file.ts";
import { type RootOptions, resolveRoot } from "./files/root.ts";
import { type SearchFilesCall, searchFilesTool } from "./files/search-files.ts";
import { createSeenFiles } from "./files/seen-files.ts";
import { type UndoChangeCall, undoChangeTool } from "./files/undo-change.ts";
import { assertNumbers, defaultLimits, type FileLimits, type Workspace } from "./files/workspace.ts";
import { type WriteFileCall, writeFileTool } from "./files/write-file.ts";

export type FileToolsOptions = RootOptions & {
  /** Omits `write_file` and `edit_file`. */
  readonly readOnly?: boolean;
  /** Keeps the earlier contents of changed files in a folder, and adds `undo_change`. */
  readonly undo?: UndoOptions;
  readonly quota?: Partial<Quota>;
  readonly limits?: Partial<FileLimits>;
};

type FileCall =
  | ReadFileCall
  | ListFilesCall
  | SearchFilesCall
  | WriteFileCall
  | EditFileCall
  | UndoChangeCall;

const optionNames = ["root", "protect", "strict", "provenance", "readOnly", "undo", "quota", "limits"];

/**
 * Creates `read_file`, `list_files`, `search_files`, `write_file` and `edit_file` for one folder. The tools never follow
 * links, leave the root or touch protected files. Writing requires approval. With `undo`, also creates `undo_change`. The folder is the user's: results are
 * private, and untrusted only if they show a file from outside.
 */
export function fileTools(options: FileToolsOptions): readonly Tool<FileCall, unknown>[] {
  const { readOnly = false, protect = [], undo, quota = {}, limits = {} } = options;
  for (const field of Object.keys(options)) {
    if (optionNames.includes(field)) continue;
    const message = `Unknown option "${field}" for fileTools. Options: ${optionNames.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  }
  assertNumbers("quota of fileTools", quota, defaultQuota);
  assertNumbers("limits of fileTools", limits, defaultLimits);
  const { folder: undoFolder, ...undoLimits } = undo ?? {};
  assertNumbers("undo of fileTools", undoLimits, defaultUndoLimits);
  const ownFolders = undoFolder === undefined ? [] : [resolve(undoFolder)];
  const root = resolveRoot({ ...options, protect: [...protect, ...ownFolders] });
  const workspace: Workspace = {
    root,
    limits: { ...defaultLimits, ...limits },
    reads: root.external === "all" ? ["private", "untrusted"] : ["private"],
    seen: createSeenFiles(),
  };
  const readTools = [readFileTool(workspace), listFilesTool(workspace), searchFilesTool(workspace)];
  if (readOnly) return readTools;
  const quotaTracker = createQuotaTracker(root, { ...defaultQuota, ...quota });
  const history = undo && openChangeHistory(root.path, undo);
  const writable = { ...workspace, quota: quotaTracker, history, queue: createQueue() };
  const writeTools = [...readTools, writeFileTool(writable), editFileTool(writable)];
  return history ? [...writeTools, undoChangeTool({ ...writable, history })] : writeTools;
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

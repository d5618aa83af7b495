import { AgentError, type Tool } from "capstan";
import { allowanceOf, defaultQuota, type Quota } from "./files/allowance.ts";
import { editFileTool } from "./files/edit-file.ts";
import { listFilesTool } from "./files/list-files.ts";
import { readFileTool } from "./files/read-file.ts";
import { type RootOptions, rootAt } from "./files/root.ts";
import { searchFilesTool } from "./files/search-files.ts";
import { checkNumbers, defaultLimits, type FileLimits, type Workspace } from "./files/workspace.ts";
import { writeFileTool } from "./files/write-file.ts";

/** Where and how file tools work. */
export type FileToolsOptions = RootOptions & {
  /** Only `read_file`, `list_files` and `search_files`. */
  readonly readOnly?: boolean;
  /** Nobody but the person the agent works for writes in the root: what is read there gives no orders. */
  readonly trusted?: boolean;
  readonly quota?: Partial<Quota>;
  readonly limits?: Partial<FileLimits>;
};

const fields = ["root", "protect", "strict", "readOnly", "trusted", "quota", "limits"];

/**
 * The tools `read_file`, `list_files`, `search_files`, `write_file` and `edit_file` for one folder. They follow no link,
 * leave the root by no path, and touch no protected file; what is written, a person is asked about.
 */
export function fileTools(options: FileToolsOptions): readonly Tool[] {
  const { readOnly = false, trusted = false, quota = {}, limits = {} } = options;
  for (const field of Object.keys(options)) {
    if (fields.includes(field)) continue;
    const message = `Unknown field "${field}" of the file tools. The fields are ${fields.join(", ")}.`;
    throw new AgentError("invalid_definition", message);
  }
  checkNumbers("the quota of the file tools", quota, defaultQuota);
  checkNumbers("the limits of the file tools", limits, defaultLimits);
  const root = rootAt(options);
  const workspace: Workspace = {
    root,
    limits: { ...defaultLimits, ...limits },
    // Whoever can put a file there can put words into it, and into its name.
    reads: trusted ? ["private"] : ["private", "untrusted"],
  };
  const reading = [readFileTool(workspace), listFilesTool(workspace), searchFilesTool(workspace)];
  if (readOnly) return reading;
  const allowance = allowanceOf(root, { ...defaultQuota, ...quota });
  const writable = { ...workspace, allowance, queue: newQueue() };
  return [...reading, writeFileTool(writable), editFileTool(writable)];
}

/** One action after the other; a failed one holds up none. */
function newQueue(): <Value>(action: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const result = last.then(action);
    last = result.catch(() => undefined);
    return result;
  };
}

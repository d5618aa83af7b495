import { defineTool, escapeInvisible, type Tool, type ToolCall, type ToolReturn } from "capstan";
import { decodeFileText, readIfPresent } from "./files/change-file.ts";
import { withDirectory } from "./files/directory.ts";
import { hasExternalFolder, isExternal } from "./files/external-files.ts";
import { createArgumentError, createNotFoundError, getSystemCode, quotePath } from "./files/file-errors.ts";
import { createDiffHint } from "./files/format-change.ts";
import { assertNotProtected, hasProtectedName } from "./files/protected-paths.ts";
import { defaultQuota } from "./files/quota.ts";
import { type Root, type RootOptions, resolveRoot } from "./files/root.ts";
import { createUnifiedDiff } from "./files/unified-diff.ts";
import { parseFilePath, withFileErrors } from "./files/workspace.ts";
import { type GitFile, type GitStatus, parseStatus } from "./git/parse-status.ts";
import { runGit } from "./git/run-git.ts";

/** `git_status`: the branch and the changed files of a repository, or the changes of one file. */
export type GitStatusCall = ToolCall<"git_status", { path?: string }>;

const maxListed = 500;

/**
 * Creates `git_status` for a folder in a git repository. It only reads, shows no protected file, and starts no program
 * that the configuration of the repository names. The user's own git settings do not apply.
 */
export function gitStatus(options: RootOptions): Tool<GitStatusCall, unknown> {
  const root = resolveRoot(options);
  return defineTool({
    name: "git_status",
    description:
      "Shows the git branch and the files that were changed since the last commit. With a path, it shows the changes of that file as a diff.",
    examples: [
      { phrase: "git status" },
      { phrase: "show the git status" },
      { phrase: "which branch is this" },
      { phrase: "what has changed since the last commit" },
      { phrase: "which files have changed since the last commit" },
      { phrase: "show the diff of {path}" },
      { phrase: "what has changed in {path}" },
    ],
    input: {
      type: "object",
      properties: { path: { type: "string", description: "A file, relative to the root, with slashes." } },
      additionalProperties: false,
    },
    effects: "none",
    reads: root.external === "all" ? ["private", "untrusted"] : ["private"],
    execute: ({ path }, { signal }) =>
      withFileErrors("read the git status", () =>
        path === undefined ? showStatus(root, signal) : showDiff(root, path, signal),
      ),
  });
}

/** Whether the folder is in the working tree of a git repository. False if git is not installed. */
export async function isGitRepository(folder: string): Promise<boolean> {
  try {
    const output = await runGit(["rev-parse", "--is-inside-work-tree"], { folder });
    return output.toString().trim() === "true";
  } catch {
    return false; // no repository, or git cannot read it
  }
}

async function showStatus(root: Root, signal: AbortSignal): Promise<ToolReturn> {
  const status = await readStatus(root, ".", signal);
  const files = status.files.filter(({ path }) => !hasProtectedName(path.split("/")));
  const shown = files.slice(0, maxListed);
  const more = files.length > maxListed ? [`… and ${files.length - maxListed} more`] : [];
  const list =
    files.length === 0 ? ["No changes since the last commit."] : [...shown.map(formatFile), ...more];
  let hasExternal = false;
  for (const { path } of shown) hasExternal ||= await isExternalPath(root, path.split("/"));
  const content = [formatBranch(status), ...list].join("\n");
  return { content, ...(hasExternal && { reads: ["untrusted"] }) };
}

/** Reads the status of a path below the root. The paths of the result are relative to the root. */
async function readStatus(root: Root, path: string, signal: AbortSignal): Promise<GitStatus> {
  const options = { folder: root.path, signal };
  const prefix = (await runGit(["rev-parse", "--show-prefix"], options)).toString().replace(/\n$/, "");
  const flags = ["--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all"];
  const output = await runGit(["status", ...flags, "--untracked-files=normal", "--", path], options);
  const status = parseStatus(output.toString());
  return {
    ...status,
    files: status.files.map((file) => ({ ...file, path: file.path.slice(prefix.length) })),
  };
}

function formatBranch({ branch, commit, upstream }: GitStatus): string {
  const place = branch === undefined ? `No branch, at commit ${commit}` : `Branch ${escapeInvisible(branch)}`;
  const start = commit === undefined ? ", no commits yet" : "";
  if (!upstream) return `${place}${start}.`;
  const { name, ahead, behind } = upstream;
  return `${place}${start}, ${ahead} ahead of and ${behind} behind ${escapeInvisible(name)}.`;
}

function formatFile({ path, state, isStaged }: GitFile): string {
  return `${state}${isStaged ? " (staged)" : ""}: ${escapeInvisible(path.toWellFormed())}`;
}

/** Compares the file on disk with the last commit, without git's own diff, which can start other programs. */
async function showDiff(root: Root, path: string, signal: AbortSignal): Promise<ToolReturn> {
  const { folder, name } = parseFilePath(path, root);
  const names = [...folder, name];
  assertNotProtected(root, names);
  const filePath = names.join("/");
  const quoted = quotePath(filePath);
  const current = await readIfPresent(root, names, defaultQuota.fileBytes);
  const committed = await readCommitted(root, filePath, signal);
  if (!committed && !current) throw createNotFoundError(`File not found: ${quoted}.`);
  const committedText = committed && decodeFileText(committed);
  const isBinary = (committed && committedText === undefined) || (current && current.text === undefined);
  const label = (await isExternalPath(root, names)) && { reads: ["untrusted"] as const };
  if (isBinary) return { content: `${quoted} is not a text file, or too large to compare.`, ...label };
  const { text, added, removed } = createUnifiedDiff(filePath, committedText, current?.text);
  if (text === "") return { content: `${quoted} has not changed since the last commit.`, ...label };
  const summary = `${quoted} since the last commit (lines: ${added} added, ${removed} removed):`;
  return { content: `${summary}\n${text}`, ui: createDiffHint(filePath, text), ...label };
}

/** Returns undefined if the last commit does not have the file, or if there is no commit. */
async function readCommitted(root: Root, path: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const options = { folder: root.path, signal };
  const { commit } = await readStatus(root, path, signal);
  if (commit === undefined) return undefined;
  const entry = (await runGit(["ls-tree", "-z", "HEAD", "--", path], options)).toString();
  if (entry === "") return undefined;
  const [, type, id = ""] = entry.split(/[ \t]/);
  if (type !== "blob") throw createArgumentError(`${quotePath(path)} is a folder, not a file.`);
  return runGit(["cat-file", "blob", id], { ...options, maxBytes: defaultQuota.fileBytes });
}

/** Whether others may have written the file or chosen its name. A file that is gone counts by its folder. */
async function isExternalPath(root: Root, names: readonly string[]): Promise<boolean> {
  if (root.external !== "some") return false;
  const folder = names.slice(0, -1);
  if (hasExternalFolder(folder)) return true;
  try {
    return await withDirectory(root, folder, (directory) => isExternal(directory, names.at(-1) ?? ""));
  } catch (error) {
    return getSystemCode(error) !== "ENOENT";
  }
}

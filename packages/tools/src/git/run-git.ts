// Runs git on a repository that others may have prepared. Its configuration can name programs that git would start (as a
// file system monitor, a hook, a content filter, or to fetch a missing object), so each of these settings is overridden.
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { devNull } from "node:os";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { AgentError } from "capstan";
import { isWithin } from "../files/parse-path.ts";

export type RunGitOptions = {
  /** Real path of the folder to run in. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  /** Default: 10 MB. */
  readonly maxBytes?: number;
};

/** Runs one command that only reads. Rejects with `tool_failed` if git is missing, fails, or exceeds a limit. */
export async function runGit(args: readonly string[], options: RunGitOptions): Promise<Buffer> {
  const filters = await listFilterSettings(options);
  return runProgram(["--no-optional-locks", "--literal-pathspecs", ...args], options, [
    ...safeSettings,
    ...filters,
  ]);
}

type Setting = readonly [key: string, value: string];

const safeSettings: readonly Setting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", devNull],
  ["core.pager", "cat"],
  ["status.submoduleSummary", "false"],
  // A folder that looks like a bare repository is data in someone's download.
  ["safe.bareRepository", "explicit"],
];

/** Reads the names of all settings, which starts no program, and returns the content filters as disabled. */
async function listFilterSettings(options: RunGitOptions): Promise<readonly Setting[]> {
  const output = await runProgram(["config", "--list", "--name-only", "-z"], options, safeSettings);
  const names = new Set(output.toString().split("\0"));
  return [...names].flatMap((name): readonly Setting[] => {
    const [, driver] = /^filter\.(.+)\.[^.]+$/s.exec(name) ?? [];
    if (driver === undefined) return [];
    return [
      ...["clean", "smudge", "process"].map((field) => [`filter.${driver}.${field}`, ""] as const),
      [`filter.${driver}.required`, "false"],
    ];
  });
}

async function runProgram(
  args: readonly string[],
  { folder, signal, timeoutMs = 10_000, maxBytes = 10_000_000 }: RunGitOptions,
  settings: readonly Setting[],
): Promise<Buffer> {
  const path = getSearchPath(folder);
  const program = await findProgram(path);
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, encoding: "buffer", timeout: timeoutMs, maxBuffer: maxBytes } as const;
    const env = buildEnvironment(path, settings);
    execFile(
      program,
      [...args],
      { ...options, env, killSignal: "SIGKILL", windowsHide: true, ...(signal && { signal }) },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (signal?.aborted) reject(signal.reason);
        else reject(createGitError(error, stderr));
      },
    ).stdin?.end();
  });
}

/** Git's own messages have absolute paths, which the model must not see. */
function createGitError(error: Error & { code?: unknown; killed?: boolean }, stderr: Buffer): AgentError {
  const text = stderr.toString();
  const [message] = [
    error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" && "The output of git is too large.",
    error.killed && "Git took too long.",
    text.includes("not a git repository") && "This folder is not in a git repository.",
    text.includes("dubious ownership") && "The repository belongs to another user, so git does not read it.",
    "Git cannot read the repository.",
  ].filter((one) => typeof one === "string");
  return new AgentError("tool_failed", message ?? "", { retryable: false, cause: error });
}

/** Nothing of this process but the search path, and no settings of the user or the system. */
function buildEnvironment(path: readonly string[], settings: readonly Setting[]): Record<string, string> {
  return {
    ...{ PATH: path.join(delimiter), LC_ALL: "C" },
    ...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_SYSTEM: devNull, GIT_CONFIG_GLOBAL: devNull },
    ...{ GIT_ATTR_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat" },
    // No protocol is allowed: git would start a program to fetch objects that a partial clone lacks.
    ...{ GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" },
    // Variables, because a name may contain "=", which separates the value in `-c`.
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** The absolute folders of PATH, without those below the repository: it may contain a program named git. */
function getSearchPath(folder: string): readonly string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((one) => isAbsolute(one) && !isWithin(one, folder, sep));
}

const programName = process.platform === "win32" ? "git.exe" : "git";

async function findProgram(path: readonly string[]): Promise<string> {
  for (const folder of path) {
    const program = join(folder, programName);
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return program;
  }
  throw new AgentError("tool_failed", "The program git was not found: install it.", { retryable: false });
}

/** The output of `git status --porcelain=v2 --branch -z`. */
export type GitStatus = {
  /** Undefined while no branch is checked out. */
  readonly branch: string | undefined;
  /** The commit, abbreviated; undefined before the first one. */
  readonly commit: string | undefined;
  readonly upstream?: { readonly name: string; readonly ahead: number; readonly behind: number };
  readonly files: readonly GitFile[];
};

export type GitFile = {
  /** Relative to the repository. */
  readonly path: string;
  readonly state: GitFileState;
  /** Whether the change, or a part of it, is in the index. */
  readonly isStaged: boolean;
};

export type GitFileState = "modified" | "added" | "deleted" | "type changed" | "untracked" | "conflict";

const states: { readonly [letter: string]: GitFileState } = {
  M: "modified",
  A: "added",
  D: "deleted",
  T: "type changed",
};

export function parseStatus(output: string): GitStatus {
  const records = output.split("\0").filter((record) => record !== "");
  const headers = new Map(
    records.flatMap((record) => {
      const [, name, value] = /^# branch\.(\S+) (.*)$/s.exec(record) ?? [];
      return name !== undefined && value !== undefined ? [[name, value] as const] : [];
    }),
  );
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get("ab") ?? "") ?? [];
  const upstream = headers.get("upstream");
  const branch = headers.get("head");
  const commit = headers.get("oid");
  return {
    branch: branch === "(detached)" ? undefined : branch,
    commit: commit === "(initial)" ? undefined : commit?.slice(0, 8),
    ...(upstream !== undefined && {
      upstream: { name: upstream, ahead: Number(ahead ?? 0), behind: Number(behind ?? 0) },
    }),
    files: records.flatMap((record) => parseFile(record) ?? []),
  };
}

/** Fields are separated by single spaces; the path is the last one and may contain spaces. */
function parseFile(record: string): GitFile | undefined {
  const [type, codes = ""] = record.split(" ", 2);
  const getPath = (fields: number) => record.split(" ").slice(fields).join(" ");
  if (type === "?") return { path: getPath(1), state: "untracked", isStaged: false };
  if (type === "u") return { path: getPath(10), state: "conflict", isStaged: false };
  if (type !== "1") return undefined;
  const [staged = ".", unstaged = "."] = codes;
  const letter = unstaged === "." || staged === "A" ? staged : unstaged;
  return { path: getPath(8), state: states[letter] ?? "modified", isStaged: staged !== "." };
}

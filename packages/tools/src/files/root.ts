import { existsSync, realpathSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { AgentError } from "capstan";
import { hasExternalFolder } from "./external-files.ts";

export type Root = {
  /** The real path, without links. */
  readonly path: string;
  /** Accepted prefixes of absolute paths. */
  readonly spellings: readonly string[];
  readonly device: bigint;
  /** Refuse files with several hard links: the others may be anywhere. */
  readonly strict: boolean;
  /** Real paths protected in addition to the built-in names. */
  readonly protect: readonly string[];
  /** Which files come from outside. `some`: decided for each file, see `external-files.ts`. */
  readonly external: "none" | "some" | "all";
  /**
   * Whether names can be looked up relative to an open directory, which is immune to path swaps. Otherwise the opened file
   * is compared with the file at its real path, which precisely timed swaps could defeat.
   */
  readonly byHandle: boolean;
};

export type RootOptions = {
  /** The working folder. Must exist. */
  readonly root: string;
  /** Files and folders that no tool may touch, such as the application's database. Relative paths start at the root. */
  readonly protect?: readonly string[];
  /** Refuse files with more than one hard link. */
  readonly strict?: boolean;
  /**
   * Who wrote the files: `user` for all of them, or `external` for all of them. Default: the user, except for downloads,
   * attachments, packages and unpacked archives.
   */
  readonly provenance?: "user" | "external";
};

/** SQLite keeps these files next to a database. */
const databaseSuffixes = ["", "-wal", "-shm", "-journal"];

/** Throws if the folder does not exist, so that a typo does not create one. */
export function resolveRoot({ root, protect = [], strict = false, provenance }: RootOptions): Root {
  const givenPath = resolve(root);
  if (!statSync(givenPath, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `The root ${JSON.stringify(root)} of fileTools is not a folder: create it first.`;
    throw new AgentError("invalid_definition", message);
  }
  const path = realpathSync.native(givenPath);
  if (isSpecialFileSystem(statfsSync(path).type)) {
    const message = `The root ${JSON.stringify(root)} of fileTools is a system file system, such as /proc: choose another folder.`;
    throw new AgentError("invalid_definition", message);
  }
  return {
    path,
    spellings: [path, givenPath],
    device: statSync(path, { bigint: true }).dev,
    strict,
    protect: protect
      .map((file) => resolveRealPath(resolve(path, file)))
      .flatMap((file) => databaseSuffixes.map((ending) => file + ending)),
    external: resolveExternal(path, provenance),
    byHandle: process.platform === "linux" && existsSync("/proc/self/fd"),
  };
}

/** Without a declaration, a root in a folder such as `Downloads` comes from outside as a whole. */
function resolveExternal(path: string, provenance: RootOptions["provenance"]): Root["external"] {
  if (provenance === undefined) return hasExternalFolder(path.split(sep)) ? "all" : "some";
  if (provenance === "user") return "none";
  if (provenance === "external") return "all";
  const message = `"provenance" of fileTools must be "user" or "external", not ${JSON.stringify(provenance)}.`;
  throw new AgentError("invalid_definition", message);
}

/** Resolves links, including for a path that does not exist yet. */
function resolveRealPath(path: string): string {
  if (existsSync(path)) return realpathSync.native(path);
  const above = dirname(path);
  return above === path ? path : join(resolveRealPath(above), basename(path));
}

const specialFileSystems = new Set([
  ...[0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x62656570, 0x1cd1, 0xcafe4a11], // proc, sys, debug, trace, security, config, devpts, bpf
  ...[0x27e0eb, 0x63677270, 0xde5e81e4, 0xf97cff8c, 0x6165676c, 0x42494e4d, 0x19800202], // cgroup, cgroup2, efivars, selinux, pstore, binfmt_misc, mqueue
]);

/** Kernel file systems: their entries look like regular files but are not on a disk. */
export function isSpecialFileSystem(type: number): boolean {
  return process.platform === "linux" && specialFileSystems.has(type);
}

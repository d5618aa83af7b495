import { existsSync, realpathSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { AgentError } from "capstan";

/** Where tools may work, and what they leave alone there. */
export type Root = {
  /** Its real path. */
  readonly path: string;
  /** How callers may write it in absolute paths. */
  readonly spellings: readonly string[];
  readonly device: bigint;
  /** Refuse files that have more than one name: the other one may lie anywhere. */
  readonly strict: boolean;
  /** Real paths that are protected beside the names that always are. */
  readonly protect: readonly string[];
  /**
   * Whether names can be looked up in an open directory, so that no exchange of its path matters. Elsewhere what was
   * opened is compared with what lies at its real path, which a lucky exchange at the right instants could deceive.
   */
  readonly byHandle: boolean;
};

/** What a root is made from. */
export type RootOptions = {
  /** The folder to work in. It must exist. */
  readonly root: string;
  /** Files and folders that no tool touches, such as the program's own database; relative ones from the root. */
  readonly protect?: readonly string[];
  /** Refuse files with more than one hard link. */
  readonly strict?: boolean;
};

/** What SQLite puts beside a database belongs to it. */
const besides = ["", "-wal", "-shm", "-journal"];

/** Throws when there is no such folder: a typing error must not become a folder somewhere. */
export function rootAt({ root, protect = [], strict = false }: RootOptions): Root {
  const given = resolve(root);
  if (!statSync(given, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `The root ${JSON.stringify(root)} of the file tools is not a folder: create it first.`;
    throw new AgentError("invalid_definition", message);
  }
  const path = realpathSync.native(given);
  if (isSpecial(statfsSync(path).type)) {
    const message = `The root ${JSON.stringify(root)} of the file tools holds no files but the system's own: take another.`;
    throw new AgentError("invalid_definition", message);
  }
  return {
    path,
    spellings: [path, given],
    device: statSync(path, { bigint: true }).dev,
    strict,
    protect: protect
      .map((file) => realPath(resolve(path, file)))
      .flatMap((file) => besides.map((ending) => file + ending)),
    byHandle: process.platform === "linux" && existsSync("/proc/self/fd"),
  };
}

/** Also of what does not exist yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync.native(path);
  const above = dirname(path);
  return above === path ? path : join(realPath(above), basename(path));
}

const special = new Set([
  ...[0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x62656570, 0x1cd1, 0xcafe4a11], // proc, sys, debug, trace, security, config, devpts, bpf
  ...[0x27e0eb, 0x63677270, 0xde5e81e4, 0xf97cff8c, 0x6165676c, 0x42494e4d, 0x19800202], // cgroup, cgroup2, efivars, selinux, pstore, binfmt_misc, mqueue
]);

/** File systems whose "files" are the kernel: all of them are regular by their type, and none is on a disk. */
export function isSpecial(type: number): boolean {
  return process.platform === "linux" && special.has(type);
}

// bubblewrap (`bwrap`) builds a file system from nothing: system folders read-only, the working folder writable, a private
// /tmp, and no other file of the machine. The command gets its own process, network and IPC namespaces.
import { existsSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWithin } from "../files/parse-path.ts";
import { hasProtectedName } from "../files/protected-paths.ts";

export type SandboxOptions = {
  /** Default: `required`. With `auto`, commands run without a sandbox if none is available. */
  readonly mode?: "auto" | "required";
  /** Allows connections, to this machine too. Default: false. */
  readonly network?: boolean;
  /** Folders and files outside `cwd` that commands can read. */
  readonly readable?: readonly string[];
  /** Folders and files outside `cwd` that commands can change. */
  readonly writable?: readonly string[];
};

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
// No host keys, password hashes, tokens or configuration of services.
const systemFiles = [
  ...["alternatives", "bash.bashrc", "ca-certificates", "crypto-policies", "fonts", "group", "host.conf"],
  ...["hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime"],
  ...["mime.types", "nsswitch.conf", "os-release", "passwd", "pki/ca-trust", "pki/tls/certs", "protocols"],
  ...["python3", "resolv.conf", "services", "ssl/certs", "ssl/openssl.cnf", "timezone"],
].map((name) => `/etc/${name}`);
// A process with the machine's user id 0 could change the kernel's settings, also without capabilities.
const kernelFiles = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"].map(
  (name) => `/proc/${name}`,
);

const temporaryBytes = 1_000_000_000;

type BubblewrapOptions = Pick<SandboxOptions, "network" | "readable" | "writable"> & {
  /** The real path of the working folder. */
  readonly cwd: string;
};

/** Returns the arguments that every command has in common. */
export function buildBubblewrapArguments(options: BubblewrapOptions): readonly string[] {
  const { cwd, network = false, readable = [], writable = [] } = options;
  const bind = (option: string, paths: readonly string[]) =>
    paths.filter(existsSync).flatMap((path) => [option, realpathSync(path), path]);
  return [
    ...["--unshare-all", "--unshare-user", ...(network ? ["--share-net"] : [])],
    ...["--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...bind("--ro-bind", [...systemFolders, ...systemFiles, ...findRuntime()]),
    ...["--proc", "/proc", ...bind("--ro-bind", kernelFiles), "--dev", "/dev"],
    ...["/dev/shm", "/tmp"].flatMap((folder) => ["--size", String(temporaryBytes), "--tmpfs", folder]),
    ...bind("--ro-bind", readable),
    ...bind("--bind", [...writable, cwd]),
  ];
}

/** The folder of Node, which may be below the home folder. */
function findRuntime(): readonly string[] {
  const prefix = dirname(dirname(process.execPath));
  return systemFolders.some((folder) => isWithin(prefix, folder)) || prefix === "/" ? [] : [prefix];
}

const maxDepth = 4;
const maxEntries = 20_000;
const skippedFolders = new Set(["node_modules"]);
const repositories = new Set([".git", ".hg", ".svn"]);

/**
 * Returns the arguments that hide credentials in the working folder (`.env`, `.npmrc`, `.aws` and the like, at most four
 * folders deep), and protect the hooks and the configuration of repositories: programs outside the sandbox run these.
 */
export async function hideSecrets(cwd: string, dataFolder: string | undefined): Promise<readonly string[]> {
  const found: string[] = [];
  let visited = 0;
  async function visit(folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (++visited > maxEntries) return;
      const path = join(folder, entry.name);
      if (repositories.has(entry.name)) found.push(...protectRepository(path));
      else if (entry.isFile() && hasProtectedName([entry.name])) found.push("--dev-bind", "/dev/null", path);
      else if (entry.isDirectory() && hasProtectedName([entry.name])) found.push("--tmpfs", path);
      else if (entry.isDirectory() && depth < maxDepth && !skippedFolders.has(entry.name))
        await visit(path, depth + 1);
    }
  }
  await visit(cwd, 1);
  if (dataFolder !== undefined && dataFolder !== cwd && isWithin(dataFolder, cwd) && existsSync(dataFolder))
    found.push("--tmpfs", dataFolder);
  return found;
}

/** `.git` of a worktree is a file that names another folder, which commands do not see. */
function protectRepository(folder: string): readonly string[] {
  const paths = ["hooks", "config", "hgrc"].map((name) => join(folder, name)).filter(existsSync);
  return paths.flatMap((path) => ["--ro-bind", path, path]);
}

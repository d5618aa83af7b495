// bubblewrap (`bwrap`) builds a file system from nothing: system folders read-only, the working folder writable, a private
// /tmp, and no other file of the machine. The command gets its own process, network and IPC namespaces.
import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin, overlaps } from "../files/parse-path.ts";

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
  const place = (paths: readonly string[]) => paths.filter(existsSync).map((path) => findPlace(path, cwd));
  return [
    ...["--unshare-all", "--unshare-user", ...(network ? ["--share-net"] : [])],
    ...["--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...bindPaths("--ro-bind", [...systemFolders, ...systemFiles]),
    ...["--proc", "/proc", ...bindPaths("--ro-bind", kernelFiles), "--dev", "/dev"],
    ...["/dev/shm", "/tmp"].flatMap((folder) => ["--size", String(temporaryBytes), "--tmpfs", folder]),
    ...bindRuntime(),
    ...bindPaths("--ro-bind", place(readable)),
    ...bindPaths("--bind", [...place(writable), cwd]),
  ];
}

/** Returns where commands see a path. Under a second path, nothing of the working folder would be hidden. */
export function findPlace(path: string, cwd: string): string {
  const target = realpathSync(path);
  return overlaps(target, cwd) ? target : path;
}

/** Node and the programs that npm installed next to it. Nothing else: the folder around them may be the home folder. */
function bindRuntime(): readonly string[] {
  const program = process.execPath;
  if (systemFolders.some((folder) => isWithin(program, folder))) return [];
  const folder = dirname(program);
  const packages = join(dirname(folder), "lib", "node_modules");
  const links = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => ({ path: join(folder, name), target: readlinkSync(join(folder, name)) }))
    .filter(({ target }) => isWithin(resolve(folder, target), packages));
  return [
    ...bindPaths("--ro-bind", [program, packages]),
    // As links, because a package finds its files relative to where its program really is.
    ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
  ];
}

function bindPaths(option: "--bind" | "--ro-bind", paths: readonly string[]): readonly string[] {
  return paths.filter(existsSync).flatMap((path) => [option, realpathSync(path), path]);
}

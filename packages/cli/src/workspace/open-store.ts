import { closeSync, existsSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AgentError, type Store } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { Config } from "../config/config.ts";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import type { Io } from "../io.ts";

/** A store, and how it is called for people. */
export type OpenedStore = { readonly store: Store; readonly database: string };

/** Where sessions are kept: what flags say, else `CAPSTAN_DATABASE`, else the configuration, else the data folder. */
export function resolveDatabase(
  { database }: { readonly database?: string | undefined },
  { config, configFile }: { readonly config: Config; readonly configFile?: string | undefined },
  io: Io,
): string {
  const override = database ?? io.env.CAPSTAN_DATABASE;
  if (override) return resolveLocation(override, io.cwd);
  if (config.database === undefined) return join(dataFolder(io.env), "capstan.db");
  return resolveLocation(config.database, configFile === undefined ? io.cwd : dirname(configFile));
}

/** Never shows an address: it may have a password. */
function resolveLocation(database: string, folder: string): string {
  if (isPostgres(database)) return database;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(database) ?? [];
  if (scheme === undefined) return resolve(folder, database);
  const message = `There is no database of the kind ${scheme}://: name a file by its path, or postgres://…`;
  throw new AgentError("invalid_input", message);
}

const isPostgres = (database: string): boolean => /^postgres(?:ql)?:\/\//.test(database);

/** Opens it, and makes it when it is a file that is not there. */
export async function openStore(database: string): Promise<OpenedStore> {
  if (isPostgres(database)) return openPostgres(database);
  ensureDataFolder(dirname(database));
  createFile(database);
  const { sqlite } = await import("capstan/stores/sqlite");
  return { store: sqlite(database), database };
}

/** For its owner alone, as the logs are, whoever may read its folder; SQLite gives what it makes beside it the same rights. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // It is there, or cannot be made: whoever opens it says why.
  }
}

/** Nothing is kept. */
export async function openMemory(): Promise<OpenedStore> {
  const { memory } = await import("capstan/stores/memory");
  return { store: memory(), database: "none (--no-session)" };
}

type Pool = Parameters<typeof import("capstan/stores/postgres").postgres>[0] & { end(): Promise<void> };
type Pg = { readonly Pool: new (options: { readonly connectionString: string }) => Pool };

async function openPostgres(address: string): Promise<OpenedStore> {
  const pg = await loadPg();
  const { postgres } = await import("capstan/stores/postgres");
  const pool = new pg.Pool({ connectionString: address });
  const store = postgres(pool);
  const close = async () => {
    await store.close();
    await pool.end();
  };
  return { store: { ...store, close }, database: hidePassword(address) };
}

/** Not a dependency: most people never need it. */
async function loadPg(): Promise<Pg> {
  const name = "pg";
  try {
    const { default: pg } = (await import(name)) as { default: Pg };
    return pg;
  } catch (cause) {
    const message = "A postgres:// database needs the package pg: run `npm install pg` beside @capstan/cli.";
    throw new AgentError("store_failed", message, { cause });
  }
}

/** An address as people may see it. */
export function hidePassword(address: string): string {
  if (!isPostgres(address) || !URL.canParse(address)) return isPostgres(address) ? "postgres://…" : address;
  const url = new URL(address);
  return `${url.protocol}//${url.username ? `${url.username}@` : ""}${url.host}${url.pathname}`;
}

/** Whether there is anything yet: a look at sessions must not make a database. */
export function hasStore(database: string): boolean {
  return isPostgres(database) || existsSync(database);
}

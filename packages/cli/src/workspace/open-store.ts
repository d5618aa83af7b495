import { closeSync, existsSync, openSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AgentError, type Store } from "capstan";
import { dataFolder } from "capstan/data-folder";
import type { Config } from "../config/config.ts";
import { ensureDataFolder } from "../config/ensure-data-folder.ts";
import type { Io } from "../io.ts";
import { overrideStore } from "./override-store.ts";

/** A store and its display name. */
export type OpenedStore = { readonly store: Store; readonly database: string };

/** Resolves the database: the flag, else `CAPSTAN_DATABASE`, else the config, else a file in the data folder. */
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

/** Throws without showing the URL: it may contain a password. */
function resolveLocation(database: string, folder: string): string {
  if (isPostgres(database)) return database;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(database) ?? [];
  if (scheme === undefined) return resolve(folder, database);
  const message = `Unsupported database URL ${scheme}://. Use a file path or postgres://…`;
  throw new AgentError("invalid_input", message);
}

/** Whether the database is a Postgres URL; otherwise it is a file. */
export const isPostgres = (database: string): boolean => /^postgres(?:ql)?:\/\//.test(database);

/** Opens the database, creating a missing file. */
export async function openStore(database: string): Promise<OpenedStore> {
  if (isPostgres(database)) return openPostgres(database);
  ensureDataFolder(dirname(database));
  createFile(database);
  const { sqlite } = await import("capstan/stores/sqlite");
  return { store: sqlite(database), database };
}

/** Creates the file with mode 0600. SQLite gives its journal files the same permissions. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // Exists, or cannot be created: opening it reports why.
  }
}

/** Opens a store that keeps nothing after exit. */
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
  return { store: overrideStore(store, { close }), database: hidePassword(address) };
}

/** Not a dependency: most users never need it. */
async function loadPg(): Promise<Pg> {
  const name = "pg";
  try {
    const { default: pg } = (await import(name)) as { default: Pg };
    return pg;
  } catch (cause) {
    const message =
      "A postgres:// database requires the package pg. Run `npm install pg` next to @capstan/cli.";
    throw new AgentError("store_failed", message, { cause });
  }
}

/** Removes the password from a database URL. */
export function hidePassword(address: string): string {
  if (!isPostgres(address) || !URL.canParse(address)) return isPostgres(address) ? "postgres://…" : address;
  const url = new URL(address);
  return `${url.protocol}//${url.username ? `${url.username}@` : ""}${url.host}${url.pathname}`;
}

/** Whether the database exists. Listing sessions must not create one. */
export function hasStore(database: string): boolean {
  return isPostgres(database) || existsSync(database);
}

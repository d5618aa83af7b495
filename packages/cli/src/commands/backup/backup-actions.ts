import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { AgentError } from "capstan";
import { backupStore, restoreStore } from "capstan/stores/sqlite";
import { ensureDataFolder } from "../../config/ensure-data-folder.ts";
import { loadProject } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { escapeTerminalLine } from "../../terminal/escape-terminal.ts";
import { isPostgres, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";

/** `capstan backup`. */
export async function backUpDatabase(file: string, flags: WorkspaceFlags, io: Io): Promise<void> {
  const database = await resolveFile(flags, io, "pg_dump --format=custom --file=FILE URL");
  const copy = resolve(io.cwd, file);
  backupStore(database, copy);
  const size = (statSync(copy).size / 1e6).toFixed(1);
  io.stderr.write(`Copied ${escapeTerminalLine(database)} to ${escapeTerminalLine(copy)} (${size} MB).\n`);
}

/** `capstan restore`. */
export async function restoreDatabase(
  file: string,
  flags: WorkspaceFlags & { readonly replace?: boolean },
  io: Io,
): Promise<void> {
  const database = await resolveFile(flags, io, "pg_restore --dbname=URL FILE");
  const { replace = false } = flags;
  if (!replace && existsSync(database)) {
    const message = `The database ${database} exists. Replace it with --replace, or choose another with --database.`;
    throw new AgentError("invalid_input", message);
  }
  ensureDataFolder(dirname(database));
  const replaced = restoreStore(resolve(io.cwd, file), database, { replace });
  io.stderr.write(`Restored ${escapeTerminalLine(database)}.\n`);
  if (replaced !== undefined) io.stderr.write(`The replaced database is ${escapeTerminalLine(replaced)}.\n`);
}

async function resolveFile(flags: WorkspaceFlags, io: Io, postgresCommand: string): Promise<string> {
  const database = resolveDatabase(flags, await loadProject(flags, io, "optional"), io);
  if (!isPostgres(database)) return database;
  throw new AgentError("invalid_input", `This is a Postgres database. Use \`${postgresCommand}\`.`);
}

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataFolder } from "capstan/data-folder";
import { formatCount } from "capstan/sessions";
import { ensureDataFolder } from "../../config/ensure-data-folder.ts";
import type { Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { hasStore, hidePassword, openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { getLogFolder } from "../../workspace/workspace.ts";
import { type Finding, getErrorMessage } from "./findings.ts";

/** Checks that the data folder is writable, and private to its owner. */
export function checkDataFolder({ env }: Io): Finding {
  const folder = dataFolder(env);
  const what = "Data folder";
  try {
    ensureDataFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const advice = "Fix its permissions, or set CAPSTAN_HOME to another folder.";
    return { what, state: "broken", says: getErrorMessage(error), advice };
  }
  const isOpen = process.platform !== "win32" && (statSync(folder).mode & 0o077) !== 0;
  if (!isOpen) return { what, state: "ok", says: folder };
  return { what, state: "limited", says: `${folder} can be read by others`, advice: `chmod 700 "${folder}"` };
}

/** Checks that the database opens and passes an integrity check. */
export async function checkDatabase(flags: WorkspaceFlags, project: Project, io: Io): Promise<Finding> {
  const what = "Database";
  let where: string;
  try {
    where = resolveDatabase(flags, project, io);
  } catch (error) {
    return { what, state: "broken", says: getErrorMessage(error), advice: "Choose another with --database." };
  }
  const shown = hidePassword(where);
  if (!hasStore(where)) return { what, state: "ok", says: `${shown} will be created when needed` };
  try {
    const { store } = await openStore(where);
    try {
      const { length } = await store.list();
      const damage = existsSync(where) ? findDamage(where) : undefined;
      if (damage === undefined)
        return {
          what,
          state: "ok",
          says: `${shown}, ${formatCount(length, "session")}, intact`,
        };
      const advice =
        "Keep a copy, export what you can with `capstan export`, then start over with another --database.";
      return { what, state: "broken", says: `${shown} is damaged: ${damage}`, advice };
    } finally {
      await store.close();
    }
  } catch (error) {
    const advice = "Choose another with --database, or repair this one.";
    return { what, state: "broken", says: `${shown}: ${getErrorMessage(error)}`, advice };
  }
}

function findDamage(file: string): string | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const [row] = database.prepare("PRAGMA integrity_check(1)").all() as { integrity_check: string }[];
    return row?.integrity_check === "ok" ? undefined : row?.integrity_check;
  } finally {
    database.close();
  }
}

/** Checks that the log folder is writable. */
export async function checkLogs(project: Project, io: Io): Promise<Finding> {
  const folder = getLogFolder(project, io);
  const what = "Logs";
  const files = ["events.jsonl", "readable.log", "reasoning.log"];
  const says = `${join(folder, "<session>")}: ${files[0]} (every event), ${files[1]} (human-readable), ${files[2]} (the model's reasoning); \`capstan serve\` writes them only with \`logs\` in the config`;
  try {
    ensureDataFolder(folder);
    accessSync(folder, constants.W_OK);
    return { what, state: "ok", says };
  } catch (error) {
    const advice = "Fix its permissions, or set `logs.directory` in the config to another folder.";
    return { what, state: "broken", says: getErrorMessage(error), advice };
  }
}

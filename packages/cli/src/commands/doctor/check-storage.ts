import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataFolder } from "capstan/data-folder";
import { ensureDataFolder } from "../../config/ensure-data-folder.ts";
import type { Project } from "../../config/load-project.ts";
import type { Io } from "../../io.ts";
import { hasStore, hidePassword, openStore, resolveDatabase } from "../../workspace/open-store.ts";
import type { WorkspaceFlags } from "../../workspace/workspace.ts";
import { getLogFolder } from "../../workspace/workspace.ts";
import { type Finding, getErrorMessage } from "./findings.ts";

/** Whether it can be written, and by its owner alone. */
export function checkDataFolder({ env }: Io): Finding {
  const folder = dataFolder(env);
  const what = "Data folder";
  try {
    ensureDataFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const advice = "Repair its rights, or name another folder with CAPSTAN_HOME.";
    return { what, state: "broken", says: getErrorMessage(error), advice };
  }
  const isOpen = process.platform !== "win32" && (statSync(folder).mode & 0o077) !== 0;
  if (!isOpen) return { what, state: "ok", says: folder };
  return { what, state: "limited", says: `${folder} can be read by others`, advice: `chmod 700 "${folder}"` };
}

/** Whether it opens, and whether it is whole. */
export async function checkDatabase(flags: WorkspaceFlags, project: Project, io: Io): Promise<Finding> {
  const what = "Database";
  let where: string;
  try {
    where = resolveDatabase(flags, project, io);
  } catch (error) {
    return { what, state: "broken", says: getErrorMessage(error), advice: "Name another with --database." };
  }
  const shown = hidePassword(where);
  if (!hasStore(where)) return { what, state: "ok", says: `${shown} will be made when it is needed` };
  try {
    const { store } = await openStore(where);
    try {
      const { length } = await store.list();
      const damage = existsSync(where) ? findDamage(where) : undefined;
      if (damage === undefined)
        return {
          what,
          state: "ok",
          says: `${shown}, ${length === 1 ? "1 session" : `${length} sessions`}, whole`,
        };
      const advice =
        "Keep a copy, export what can be read with `capstan export`, then begin with another --database.";
      return { what, state: "broken", says: `${shown} is damaged: ${damage}`, advice };
    } finally {
      await store.close();
    }
  } catch (error) {
    const advice = "Name another with --database, or repair this one.";
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

/** Where the three logs of each session are. */
export async function checkLogs(project: Project, io: Io): Promise<Finding> {
  const folder = getLogFolder(project, io);
  const what = "Logs";
  const files = ["events.jsonl", "readable.log", "reasoning.log"];
  const says = `${join(folder, "<session>")}: ${files[0]} (every event), ${files[1]} (to read), ${files[2]} (what the model thought)`;
  try {
    ensureDataFolder(folder);
    accessSync(folder, constants.W_OK);
    return { what, state: "ok", says };
  } catch (error) {
    const advice = "Repair its rights, or name another folder with `logs.directory` in the configuration.";
    return { what, state: "broken", says: getErrorMessage(error), advice };
  }
}

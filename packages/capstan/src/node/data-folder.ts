import { homedir } from "node:os";
import { join } from "node:path";

type Environment = { readonly [name: string]: string | undefined };

/**
 * Where data of this user lies (the database, logs, what apps keep): `CAPSTAN_HOME`, else the platform's folder for data
 * of applications.
 */
export function dataFolder(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (env.CAPSTAN_HOME) return env.CAPSTAN_HOME;
  const home = userFolder(env);
  if (platform === "darwin") return join(home, "Library", "Application Support", "capstan");
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "capstan");
  return join(env.XDG_DATA_HOME || join(home, ".local", "share"), "capstan");
}

/** The home folder of whoever runs the program. */
export function userFolder(env: Environment = process.env): string {
  return env.HOME || env.USERPROFILE || homedir();
}

import { homedir } from "node:os";
import { join } from "node:path";

type Environment = { readonly [name: string]: string | undefined };

/**
 * Returns the folder for user data (database, logs, app data): `CAPSTAN_HOME`, or the platform's application data
 * folder.
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

/** Returns the user's home folder. */
export function userFolder(env: Environment = process.env): string {
  return env.HOME || env.USERPROFILE || homedir();
}

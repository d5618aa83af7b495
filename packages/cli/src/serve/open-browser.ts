import { spawn } from "node:child_process";
import type { Io } from "../io.ts";

/** Whether somebody sits there who would see it. */
export function canOpenBrowser({ stdout, env }: Io): boolean {
  return stdout.isTTY === true && !env.CI && env.BROWSER !== "none";
}

/** Opens an address for whoever sits there; where that does not work, the address that is printed has to do. */
export function openBrowser(url: string, { env }: Io): void {
  const [command, ...words] = getBrowserCommand(env);
  const child = spawn(command, [...words, url], { stdio: "ignore", detached: true, env: { ...env } });
  child.on("error", () => undefined);
  child.unref();
}

function getBrowserCommand(env: Io["env"]): [string, ...string[]] {
  if (env.BROWSER) return [env.BROWSER];
  if (process.platform === "darwin") return ["open"];
  // `start` takes a first quoted word for the title of a window.
  if (process.platform === "win32") return ["cmd", "/c", "start", ""];
  return ["xdg-open"];
}

import { spawn } from "node:child_process";
import type { Io } from "../io.ts";

/** Whether a user is present to see the browser. */
export function canOpenBrowser({ stdout, env }: Io): boolean {
  return stdout.isTTY === true && !env.CI && env.BROWSER !== "none";
}

/** Opens the URL in the browser. Failures are ignored: the URL is also printed. */
export function openBrowser(url: string, { env }: Io): void {
  const [command, ...words] = getBrowserCommand(env);
  const child = spawn(command, [...words, url], { stdio: "ignore", detached: true, env: { ...env } });
  child.on("error", () => undefined);
  child.unref();
}

function getBrowserCommand(env: Io["env"]): [string, ...string[]] {
  if (env.BROWSER) return [env.BROWSER];
  if (process.platform === "darwin") return ["open"];
  // `start` uses its first quoted argument as the window title.
  if (process.platform === "win32") return ["cmd", "/c", "start", ""];
  return ["xdg-open"];
}

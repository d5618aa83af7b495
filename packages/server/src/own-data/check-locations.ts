import { type Stats, statSync } from "node:fs";
import { extname, isAbsolute } from "node:path";
import { AgentError, suggestName } from "capstan";
import type { DataLoader } from "./loader.ts";
import { isUrl } from "./source-names.ts";

/** Throws `invalid_input` for a location that does not exist or that the app does not read. */
export function checkLocations(
  app: string,
  loader: Pick<DataLoader, "description" | "extensions" | "acceptsFolders" | "schemes">,
  locations: readonly string[],
): void {
  for (const location of locations) {
    const problem = isUrl(location) ? findUrlProblem(location, loader) : findPathProblem(location, loader);
    if (problem === undefined) continue;
    const advice = problem === "not found" ? "Check the path." : `${app} reads ${loader.description}.`;
    throw new AgentError("invalid_input", `Cannot open ${hidePassword(location)}: ${problem}. ${advice}`);
  }
}

/** Throws `invalid_input` for a setting that the app does not have. */
export function checkLoaderSettings(
  app: string,
  { settings: known = {} }: Pick<DataLoader, "settings">,
  settings: Readonly<Record<string, unknown>>,
): void {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const names = Object.keys(known);
  const hint = suggestName(unknown, names) || ` Settings of ${app}: ${names.join(", ") || "none"}.`;
  throw new AgentError("invalid_input", `Unknown setting ${JSON.stringify(unknown)}.${hint}`);
}

function findUrlProblem(url: string, { schemes = [] }: Pick<DataLoader, "schemes">): string | undefined {
  const scheme = URL.parse(url)?.protocol;
  if (scheme === undefined) return "invalid URL";
  return schemes.includes(scheme) ? undefined : `it does not connect to ${scheme}// addresses`;
}

function findPathProblem(
  path: string,
  { extensions, acceptsFolders }: Pick<DataLoader, "extensions" | "acceptsFolders">,
): string | undefined {
  if (!isAbsolute(path)) return "the path is not absolute";
  const stats = readStats(path);
  if (!stats) return "not found";
  if (stats.isDirectory()) return acceptsFolders ? undefined : "it is a folder";
  if (!stats.isFile()) return "it is neither a file nor a folder";
  const extension = extname(path).toLowerCase();
  return extensions.includes(extension) ? undefined : `it does not read ${extension || "such"} files`;
}

function readStats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined; // missing, or not readable
  }
}

/** Returns a location for errors and lists. */
export function hidePassword(location: string): string {
  if (!isUrl(location)) return location;
  return location.replace(/^([^/]*\/\/[^/@]*?):[^/@]*@/, "$1:…@");
}

import { type Stats, statSync } from "node:fs";
import { extname, isAbsolute } from "node:path";
import { AgentError } from "capstan";
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

import { homedir } from "node:os";
import { relative, sep } from "node:path";
import { escapeInvisible } from "capstan";
import type { Workspace } from "../workspace/workspace.ts";

/** What is known when a server listens. */
export type AnnouncementOptions = {
  readonly title: string;
  readonly url: string;
  readonly workspace: Workspace;
  readonly isKeyNeeded: boolean;
  readonly cwd: string;
  /** Whether a change of the configuration is taken up. */
  readonly isWatched?: boolean;
  readonly hasStudio?: boolean;
};

/** What is served, for whoever started it. */
export function formatAnnouncement(served: AnnouncementOptions): string {
  const { title, url, workspace, isKeyNeeded, cwd } = served;
  const { agents, agent, modelName, database, configFile, home } = workspace;
  const names = agents.map(({ name }) =>
    name === agent.name && agents.length > 1 ? `${name} (default)` : name,
  );
  const configuration =
    configFile === undefined ? "none (`capstan init` makes one)" : shortenPath(configFile, cwd);
  const rows: [string, string][] = [
    ["agents", names.join(", ")],
    ["model", modelName],
    ["database", shortenPath(database, cwd)],
    ["configuration", configuration + (served.isWatched ? ", watched" : "")],
    ["logs", shortenPath(`${home}${sep}logs`, cwd)],
    ["key", isKeyNeeded ? "needed, as a bearer token" : "none, so only this machine is let in"],
    ...(served.hasStudio ? ([["studio", url]] as [string, string][]) : []),
    ["API", `${url}/api · described in ${url}/openapi.json`],
    ["OpenAI", `${url}/v1`],
    ["MCP", `${url}/mcp`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${escapeInvisible(value)}`);
  return [`${title} listens on ${url}`, "", ...lines, "", "Ctrl-C stops it.", ""].join("\n");
}

/** As a person would say it: from here, or from home. */
export function shortenPath(path: string, cwd: string): string {
  const fromHere = relative(cwd, path);
  if (path.startsWith(cwd + sep) && !fromHere.startsWith("..")) return fromHere;
  const home = homedir();
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

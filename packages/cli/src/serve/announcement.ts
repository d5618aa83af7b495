import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { escapeInvisible } from "capstan";
import type { Workspace } from "../workspace/workspace.ts";

/** Facts about a listening server. */
export type AnnouncementOptions = {
  readonly title: string;
  readonly url: string;
  readonly workspace: Workspace;
  readonly isKeyNeeded: boolean;
  readonly cwd: string;
  /** Whether config changes are reloaded. */
  readonly isWatched?: boolean;
  /** Its address, or why there is none. */
  readonly studio?: string;
};

/** Formats the message printed when the server starts. */
export function formatAnnouncement(served: AnnouncementOptions): string {
  const { title, url, workspace, isKeyNeeded, cwd } = served;
  const { agents, agent, modelName, database, configFile, home, logFolder } = workspace;
  const names = agents.map(({ name }) =>
    name === agent.name && agents.length > 1 ? `${name} (default)` : name,
  );
  const configuration =
    configFile === undefined ? "none (`capstan init` creates one)" : shortenPath(configFile, cwd);
  const errors = shortenPath(join(home, "logs"), cwd);
  const rows: [string, string][] = [
    ["agents", names.join(", ")],
    ["model", modelName],
    ["database", shortenPath(database, cwd)],
    ["config", configuration + (served.isWatched ? ", watched" : "")],
    ["logs", logFolder === undefined ? `${errors}, errors only` : shortenPath(logFolder, cwd)],
    ["key", isKeyNeeded ? "required, as a bearer token" : "none; only this machine has access"],
    ...(served.studio ? ([["studio", served.studio]] as [string, string][]) : []),
    ["API", `${url}/api · spec: ${url}/openapi.json`],
    ["OpenAI", `${url}/v1`],
    ["MCP", `${url}/mcp`],
    ...Object.entries(workspace.config.webhooks ?? {}).map(([name, { provider }]): [string, string] => [
      "webhook",
      `${url}/webhooks/${name} (${provider})`,
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${escapeInvisible(value)}`);
  return [`${title} listens on ${url}`, "", ...lines, "", "Press Ctrl-C to stop.", ""].join("\n");
}

/** Shortens a path relative to the current or home folder. */
export function shortenPath(path: string, cwd: string): string {
  const fromHere = relative(cwd, path);
  if (path.startsWith(cwd + sep) && !fromHere.startsWith("..")) return fromHere;
  const home = homedir();
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

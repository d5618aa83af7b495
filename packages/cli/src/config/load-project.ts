// Loads a project: the nearest `capstan.config.ts` (or .js, .mjs), the nearest `.mcp.json` and the nearest folders of
// skills, searching upwards. A config is code, `.mcp.json` starts commands, skills are instructions, and all may come with
// a download, so they are used only as the user has trusted them. A file named with a flag needs no trust.
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentError, isRecord } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findErrorLocation } from "../errors/find-error-location.ts";
import type { Io } from "../io.ts";
import { askForTrust } from "../trust/ask-for-trust.ts";
import { checkTrust, type FileTrust, listChangedPaths, trustFile, trustFolder } from "../trust/trust.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { checkConfig } from "./check-config.ts";
import type { Config } from "./config.ts";
import { findUpwards } from "./find-upwards.ts";

/** File names of a config. */
export const configNames: readonly string[] = [
  "capstan.config.ts",
  "capstan.config.js",
  "capstan.config.mjs",
];

/** The config files that were found. */
export type Project = {
  readonly config: Config;
  readonly configFile?: string;
  /** Only when it is trusted. */
  readonly mcpFile?: string;
  /** The project's folders of skills, trusted or not. */
  readonly skillFolders: readonly string[];
  /** Found, but not used; untrusted skills are used as external content. */
  readonly untrusted: readonly string[];
  readonly notices: readonly string[];
};

/** `required`: an untrusted config is an error, so that a run never silently ignores it. `optional`: it is skipped. */
export type ConfigNeed = "required" | "optional";

/** Finds and loads the project. Throws `invalid_definition` for a config that cannot be used. */
export async function loadProject(flags: WorkspaceFlags, io: Io, need: ConfigNeed): Promise<Project> {
  const search = { from: io.cwd, home: userFolder(io.env) };
  const namedConfig = flags.config === undefined ? undefined : resolveConfigFile(flags.config, io);
  const foundConfig = namedConfig ?? findUpwards(flags.configNames ?? configNames, search);
  const mcpFile = findUpwards([".mcp.json"], search);
  const skillFolders = findSkillFolders(io);
  const configFiles = [...(namedConfig ? [] : [foundConfig]), mcpFile].filter((file) => file !== undefined);
  const files = [...configFiles, ...skillFolders];
  // A user who answers no continues without the config; a script has no user to ask.
  const canAsk =
    need === "required" && !flags.isScript && io.stdin.isTTY === true && io.stderr.isTTY === true;
  const refused = await findUntrusted(files, { ...flags, asks: canAsk }, io);
  // A script must not run with another agent, or without tools that it used to have.
  const needed = refused.find(({ file, state }) => file === foundConfig || state === "changed");
  if (need === "required" && !canAsk && needed) throw createTrustError(needed);
  const untrusted = refused.map(({ file }) => file);
  const configFile = foundConfig !== undefined && untrusted.includes(foundConfig) ? undefined : foundConfig;
  return {
    config: configFile === undefined ? {} : await loadConfig(configFile),
    ...(configFile !== undefined && { configFile }),
    ...(mcpFile !== undefined && !untrusted.includes(mcpFile) && { mcpFile }),
    skillFolders,
    untrusted,
    notices: refused.map(formatNotice),
  };
}

/** The user's own skills. */
export const getUserSkillFolder = (env: Io["env"]): string => join(userFolder(env), ".capstan", "skills");

/** Finds the nearest folders of skills that are part of a project. */
export function findSkillFolders({ cwd, env }: Pick<Io, "cwd" | "env">): readonly string[] {
  const search = { from: cwd, home: userFolder(env) };
  return [".capstan/skills", ".claude/skills"].flatMap((name) => {
    const folder = findUpwards([name], search);
    if (folder === undefined || folder === getUserSkillFolder(env)) return [];
    return statSync(folder).isDirectory() ? folder : [];
  });
}

async function findUntrusted(
  files: readonly string[],
  { trust, acceptChanges, asks }: WorkspaceFlags & { readonly asks: boolean },
  io: Io,
): Promise<readonly FileTrust[]> {
  // Without project files, the folder itself is trusted: an editor may bring servers for it.
  if (trust && files.length === 0) await trustFolder(io.cwd, io.env);
  const isAccepted = ({ state }: FileTrust) => trust || (acceptChanges && state === "changed");
  const answered = new Set<string>();
  for (;;) {
    const open = files
      .map((file) => checkTrust(file, io.env))
      .filter(({ state }) => state !== "trusted")
      // The answer holds for this start: the next one cannot know whether anything has changed.
      .filter(({ file, isTooLarge }) => !(isTooLarge && answered.has(file)));
    if (open.length === 0) return [];
    const accepted = open.filter(isAccepted);
    const isAsked = accepted.length === 0;
    if (isAsked && !(asks && (await askForTrust(open, io)))) return open;
    // What the user has seen is trusted. A file that changed meanwhile is checked again.
    for (const trusted of isAsked ? open : accepted) {
      answered.add(trusted.file);
      await trustFile(trusted, io.env);
    }
  }
}

function resolveConfigFile(name: string, io: Io): string {
  const file = resolve(io.cwd, name);
  if (existsSync(file)) return file;
  throw new AgentError("invalid_definition", `Config file not found: ${file}. Check --config.`);
}

async function loadConfig(file: string): Promise<Config> {
  let module: { readonly default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const place = findErrorLocation(cause, dirname(file));
    const where = place === undefined ? "" : ` (${place})`;
    const isMissing = why.startsWith("Cannot find package");
    const advice = isMissing ? " Run `npm install` in its folder." : "";
    const message = `Cannot load the config ${file}: ${why.split("\n")[0]}${where}${advice}`;
    throw new AgentError("invalid_definition", message, { cause });
  }
  // Node treats a file without exports as CommonJS, whose default export is an empty object.
  const isEmpty = "module.exports" in module && isRecord(module.default) && isEmptyObject(module.default);
  return checkConfig(isEmpty ? undefined : module.default, file);
}

const isEmptyObject = (value: object): boolean => Object.keys(value).length === 0;

function formatNotice({ file, state, isSkillFolder }: FileTrust): string {
  if (isSkillFolder) {
    const reason = state === "changed" ? "changed since you trusted them" : "are not trusted";
    return `The skills in ${file} ${reason}: the agent does not see them in its instructions, and their text is external content. Review them, then run capstan with --trust.`;
  }
  const problem = state === "changed" ? "it changed since you trusted it" : "it is not trusted";
  return `${file} is not used: ${problem}. Review it, then run capstan with --trust.`;
}

function createTrustError({ file, state, trusted, current }: FileTrust): AgentError {
  const changed = listChangedPaths(trusted, current).slice(0, 5).join(", ");
  const message =
    state === "changed"
      ? `${file} changed since you trusted it (${changed}). Run capstan in a terminal to see the changes, or review them and run capstan once with --trust.`
      : `${file} is code, and its folder is not trusted. Review it, then run capstan once with --trust, or name a config with --config.`;
  return new AgentError("invalid_definition", message);
}

// Loads a project: the nearest `capstan.config.ts` (or .js, .mjs) and the nearest `.mcp.json`, searching upwards. A config
// is code, `.mcp.json` starts commands, and both may come with a download, so they are used only in trusted folders. A
// file named with a flag needs no trust.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentError, isRecord } from "capstan";
import { userFolder } from "capstan/data-folder";
import { findErrorLocation } from "../errors/find-error-location.ts";
import type { Io } from "../io.ts";
import { askForTrust } from "../trust/ask-for-trust.ts";
import { isTrusted, trustFolder } from "../trust/trust.ts";
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
  /** Only when its folder is trusted. */
  readonly mcpFile?: string;
  /** Found, but not used. */
  readonly untrusted: readonly string[];
  readonly notices: readonly string[];
};

/** `required`: an untrusted config is an error, so that a run never silently ignores it. `optional`: it is skipped. */
export type ConfigNeed = "required" | "optional";

/** Finds and loads the project. Throws `invalid_definition` for a config that cannot be used. */
export async function loadProject(flags: WorkspaceFlags, io: Io, need: ConfigNeed): Promise<Project> {
  const search = { from: io.cwd, home: userFolder(io.env) };
  const namedConfig = flags.config === undefined ? undefined : resolveConfigFile(flags.config, io);
  const foundConfig = namedConfig ?? findUpwards(configNames, search);
  const mcpFile = findUpwards([".mcp.json"], search);
  const files = [...(namedConfig ? [] : [foundConfig]), mcpFile].filter((file) => file !== undefined);
  // A user who answers no continues without the config; a script has no user to ask.
  const canAsk =
    need === "required" && !flags.isScript && io.stdin.isTTY === true && io.stderr.isTTY === true;
  const untrusted = await findUntrusted(files, { ...flags, asks: canAsk }, io);
  if (need === "required" && !canAsk && foundConfig !== undefined && untrusted.includes(foundConfig))
    throw createTrustError(foundConfig);
  const configFile = foundConfig !== undefined && untrusted.includes(foundConfig) ? undefined : foundConfig;
  return {
    config: configFile === undefined ? {} : await loadConfig(configFile),
    ...(configFile !== undefined && { configFile }),
    ...(mcpFile !== undefined && !untrusted.includes(mcpFile) && { mcpFile }),
    untrusted,
    notices: untrusted.map(
      (file) => `${file} is not used: its folder is not trusted. Review it, then run capstan with --trust.`,
    ),
  };
}

async function findUntrusted(
  files: readonly string[],
  { trust, asks }: WorkspaceFlags & { readonly asks: boolean },
  io: Io,
): Promise<readonly string[]> {
  const open = files.filter((file) => !isTrusted(dirname(file), io.env));
  if (open.length === 0) return [];
  const isAgreed = trust || (asks && (await askForTrust(open, io)));
  if (!isAgreed) return open;
  for (const file of open) await trustFolder(dirname(file), io.env);
  return [];
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

function createTrustError(file: string): AgentError {
  const message = `${file} is code, and its folder is not trusted. Review it, then run capstan once with --trust, or name a config with --config.`;
  return new AgentError("invalid_definition", message);
}

// Parses the arguments of `capstan mcp add`. Everything after the server's command belongs to the server, so commander,
// which would take a `-e` or `-y` for itself, cannot parse them.
import { AgentError, isRecord } from "capstan";
import type { McpEntry } from "./mcp-file.ts";

/** A server to add. */
export type NamedServer = { readonly name: string; readonly entry: McpEntry };

const usage = "capstan mcp add <name> [-e KEY=VALUE] [--header 'Name: value'] -- <command|url> [args…]";
const isAddress = (word: string): boolean => /^https?:\/\//i.test(word);
const optionNames = new Set(["-e", "--env", "-H", "--header"]);

/** Throws `invalid_input` with the usage. */
export function parseServer(words: readonly string[]): NamedServer {
  const [name = "", ...rest] = words;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
    throw createUsageError(
      name === ""
        ? "A name and a command or URL are required"
        : `Invalid server name "${name}": use letters, digits, - and _`,
    );
  const settings: Settings = { env: {}, headers: {} };
  let at = 0;
  while (optionNames.has(getOptionName(rest[at]))) at += takeOption(rest, at, settings);
  const isLiteral = rest[at] === "--";
  if (isLiteral) at += 1;
  const target = rest[at];
  if (target === undefined) throw createUsageError(`The server "${name}" needs a command or a URL`);
  const behind = rest.slice(at + 1);
  if (isAddress(target)) return { name, entry: buildRemoteEntry(target, behind, settings) };
  return {
    name,
    entry: buildCommandEntry(target, isLiteral ? behind : takeTrailingOptions(behind, settings), settings),
  };
}

type Settings = { readonly env: Record<string, string>; readonly headers: Record<string, string> };

/** "--env=KEY=VALUE" is one word, "--env KEY=VALUE" are two. */
const getOptionName = (word = ""): string => (word.startsWith("--") ? (word.split("=")[0] ?? "") : word);

/** Applies the option at this index; returns how many words it takes. */
function takeOption(words: readonly string[], at: number, settings: Settings): number {
  const word = words[at] ?? "";
  const option = getOptionName(word);
  const isJoined = word !== option;
  const value = isJoined ? word.slice(option.length + 1) : words[at + 1];
  if (value === undefined) throw createUsageError(`${option} needs a value`);
  if (option === "-e" || option === "--env") addVariable(value, settings.env);
  else addHeader(value, settings.headers);
  return isJoined ? 1 : 2;
}

function addVariable(text: string, env: Record<string, string>): void {
  const [, key, value] = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  if (key === undefined) throw createUsageError(`-e must be KEY=VALUE, not "${text.split("=")[0]}"`);
  // KEY alone is read from the environment when the server starts.
  env[key] = value ?? `\${${key}}`;
}

function addHeader(text: string, headers: Record<string, string>): void {
  const [, key, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw createUsageError("--header must be 'Name: value'");
  headers[key] = value;
}

/** Takes `-e KEY=VALUE` after all arguments as ours; between them it belongs to the command, as in `docker run -e`. */
function takeTrailingOptions(words: readonly string[], settings: Settings): readonly string[] {
  let end = words.length;
  while (
    end >= 2 &&
    /^(?:-e|--env)$/.test(words[end - 2] ?? "") &&
    /^[A-Za-z_]\w*=/.test(words[end - 1] ?? "")
  ) {
    takeOption(words, end - 2, settings);
    end -= 2;
  }
  return words.slice(0, end);
}

function buildRemoteEntry(url: string, behind: readonly string[], settings: Settings): McpEntry {
  let at = 0;
  while (at < behind.length) {
    if (!optionNames.has(getOptionName(behind[at])))
      throw createUsageError(`Unexpected argument "${behind[at]}" for a server at a URL`);
    at += takeOption(behind, at, settings);
  }
  if (!URL.canParse(url)) throw createUsageError("Invalid URL");
  if (Object.keys(settings.env).length > 0)
    throw createUsageError("A server at a URL has no environment: use --header instead of -e");
  const { headers } = settings;
  return { type: "http", url, ...(Object.keys(headers).length > 0 && { headers }) };
}

function buildCommandEntry(command: string, args: readonly string[], { env, headers }: Settings): McpEntry {
  if (Object.keys(headers).length > 0)
    throw createUsageError("--header needs a URL: use -e KEY=VALUE for a command");
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

function createUsageError(problem: string): AgentError {
  return new AgentError("invalid_input", `${problem}. Usage: ${usage}`);
}

/** Describes an entry in one line, without values that may be secret. */
export function describeServer(entry: unknown): string {
  if (!isRecord(entry)) return "invalid entry";
  const words = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const address = entry.url ?? entry.httpUrl;
  const what =
    typeof entry.command === "string"
      ? [entry.command, ...words].map(quoteWord).join(" ")
      : typeof address === "string"
        ? hideSecrets(address)
        : "has neither a command nor a URL";
  const names = Object.keys({ ...asRecord(entry.env), ...asRecord(entry.headers) });
  return [
    what,
    ...(names.length > 0 ? [`with ${names.join(", ")}`] : []),
    ...(entry.enabled === false ? ["disabled"] : []),
  ].join(" · ");
}

const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const quoteWord = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word));

function hideSecrets(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password) url.password = "…";
  for (const key of url.searchParams.keys()) url.searchParams.set(key, "…");
  return decodeURI(url.href);
}

/** Returns the names of plain-text values that look like secrets. */
export function findPlainSecrets(entry: McpEntry): readonly string[] {
  const values = { ...asRecord(entry.env), ...asRecord(entry.headers) };
  const isSecret = ([key, value]: [string, unknown]) =>
    /key|token|secret|password|authorization|credential/i.test(key) && !String(value).includes("${");
  return Object.entries(values)
    .filter(isSecret)
    .map(([key]) => key);
}

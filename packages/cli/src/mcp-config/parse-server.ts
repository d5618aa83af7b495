// What a person types behind `capstan mcp add`. Everything behind the command of a server is the server's own, so the
// words are read here and not by the parser of the program, which would take a `-e` or `-y` for itself.
import { AgentError } from "capstan";
import { isRecord } from "../is-record.ts";
import type { McpEntry } from "./mcp-file.ts";

/** A server to be added. */
export type NamedServer = { readonly name: string; readonly entry: McpEntry };

const usage = "capstan mcp add <name> [-e KEY=VALUE] [--header 'Name: value'] -- <command|url> [args…]";
const isAddress = (word: string): boolean => /^https?:\/\//i.test(word);
const optionNames = new Set(["-e", "--env", "-H", "--header"]);

/** Reads the words. Throws `invalid_input` that says how it is written. */
export function parseServer(words: readonly string[]): NamedServer {
  const [name = "", ...rest] = words;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
    throw createUsageError(
      name === ""
        ? "A server needs a name and a command or a URL"
        : `"${name}" cannot be the name of a server: use letters, digits, - and _`,
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

/** Takes the option at this place; gives how many words it has. */
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
  if (key === undefined) throw createUsageError(`-e takes KEY=VALUE, not "${text.split("=")[0]}"`);
  // Alone, a name stands for what the environment has at the time.
  env[key] = value ?? `\${${key}}`;
}

function addHeader(text: string, headers: Record<string, string>): void {
  const [, key, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw createUsageError("--header takes 'Name: value'");
  headers[key] = value;
}

/** Behind all arguments, `-e KEY=VALUE` is meant for us; in the midst of them it is the command's, as with `docker run -e`. */
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
      throw createUsageError(`A server at a URL takes no "${behind[at]}"`);
    at += takeOption(behind, at, settings);
  }
  if (!URL.canParse(url)) throw createUsageError("The URL cannot be read");
  if (Object.keys(settings.env).length > 0)
    throw createUsageError("A server at a URL has no environment: use --header instead of -e");
  const { headers } = settings;
  return { type: "http", url, ...(Object.keys(headers).length > 0 && { headers }) };
}

function buildCommandEntry(command: string, args: readonly string[], { env, headers }: Settings): McpEntry {
  if (Object.keys(headers).length > 0)
    throw createUsageError("A command takes no --header: use -e KEY=VALUE");
  return {
    command,
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

function createUsageError(problem: string): AgentError {
  return new AgentError("invalid_input", `${problem}. It is written so: ${usage}`);
}

/** An entry in one line, without the values that may be secret. */
export function describeServer(entry: unknown): string {
  if (!isRecord(entry)) return "cannot be understood";
  const words = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const address = entry.url ?? entry.httpUrl;
  const what =
    typeof entry.command === "string"
      ? [entry.command, ...words].map(quoteWord).join(" ")
      : typeof address === "string"
        ? hideSecrets(address)
        : "has neither a command nor a URL";
  const names = Object.keys({ ...toRecord(entry.env), ...toRecord(entry.headers) });
  return [
    what,
    ...(names.length > 0 ? [`with ${names.join(", ")}`] : []),
    ...(entry.enabled === false ? ["off"] : []),
  ].join(" · ");
}

const toRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const quoteWord = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word));

function hideSecrets(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password) url.password = "…";
  for (const key of url.searchParams.keys()) url.searchParams.set(key, "…");
  return decodeURI(url.href);
}

/** Names of values that stand in the entry in plain text and look like secrets. */
export function findPlainSecrets(entry: McpEntry): readonly string[] {
  const values = { ...toRecord(entry.env), ...toRecord(entry.headers) };
  const isSecret = ([key, value]: [string, unknown]) =>
    /key|token|secret|password|authorization|credential/i.test(key) && !String(value).includes("${");
  return Object.entries(values)
    .filter(isSecret)
    .map(([key]) => key);
}

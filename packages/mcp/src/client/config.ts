import { AgentError, type Effects, type Reads } from "capstan";
import { isRecord } from "../is-record.ts";
import { expand, type Variables } from "./expand.ts";
import type { StdioSettings } from "./guarded-stdio.ts";
import type { OAuthOptions } from "./oauth/oauth-provider.ts";

/** What the labels of a tool are, where they differ from the default: untrusted, private, changes something. */
export type Relaxed = {
  readonly effects?: Effects;
  readonly reads?: readonly Reads[];
  readonly idempotent?: boolean;
  /** Whether a person must agree first. Left out: when the server says that the tool destroys something. */
  readonly needsApproval?: boolean;
};

/** One tool of a server, by the server's name for it. */
export type ToolConfig = Relaxed & { readonly enabled?: boolean; readonly timeout?: number };

/** What can be said of every server. */
export type Common = Relaxed & {
  /** False: it is known and not started. */
  readonly enabled?: boolean;
  /** Milliseconds for one call. */
  readonly timeout?: number;
  /** Milliseconds for the start, and again for the list of tools; 10,000 when left out. */
  readonly startTimeout?: number;
  /** Without it nothing can be done: `mcpTools` rejects when it does not start. */
  readonly required?: boolean;
  /** Believe the server when it says that a tool only reads, or can be repeated. */
  readonly trustAnnotations?: boolean;
  readonly tools?: Readonly<Record<string, ToolConfig>>;
};

/** A server as a child process. */
export type StdioConfig = Common & StdioSettings & { readonly type?: "stdio" };

/** A server at an address: `http` is MCP's streamable HTTP, `http-rest` plain requests to `/tools/list` and `/tools/call`. */
export type HttpConfig = Common & {
  readonly type?: "http" | "streamable-http" | "http-rest";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a server that people sign in to: a client that is registered there already, and what to ask for. */
  readonly oauth?: OAuthConfig;
};

export type OAuthConfig = Pick<OAuthOptions, "clientId" | "clientSecret" | "clientMetadataUrl" | "scope">;

export type ServerConfig = StdioConfig | HttpConfig;

const commonFields = ["type", "enabled", "timeout", "startTimeout", "required", "trustAnnotations", "tools"];
const labelFields = ["effects", "reads", "idempotent", "needsApproval"];
const stdioFields = ["command", "args", "env", "cwd"];
const httpFields = ["url", "httpUrl", "headers", "oauth"];
const oauthFields = ["clientId", "clientSecret", "clientMetadataUrl", "scope"];
const kinds = ["stdio", "http", "streamable-http", "http-rest"];
/** A timer that is set for longer fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Checks one entry of `mcpServers` and fills in its variables. Throws `mcp_config`, which names server and field. */
export function readServer(name: string, entry: unknown, variables: Variables): ServerConfig {
  const refuse = (problem: string): never => {
    throw new AgentError("mcp_config", `The MCP server "${name}" ${problem}.`);
  };
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
    refuse("needs a name of letters, digits, - and _, at most 41 of them");
  if (!isRecord(entry)) return refuse("must be an object with `command` or `url`");
  const { httpUrl, ...fields } = entry;
  const server = httpUrl === undefined ? fields : { type: "http", url: httpUrl, ...fields };
  const isStdio = typeof server.command === "string";
  if (isStdio === (typeof server.url === "string")) refuse("needs either a `command` or a `url`");
  if (server.type !== undefined && !kinds.includes(server.type as string))
    refuse(`has the type ${JSON.stringify(server.type)}; possible are ${kinds.join(", ")}`);
  if (server.type !== undefined && isStdio !== (server.type === "stdio"))
    refuse(`has the type "${server.type}", which does not go with its \`${isStdio ? "command" : "url"}\``);
  const known = [...commonFields, ...labelFields, ...(isStdio ? stdioFields : httpFields)];
  for (const field of Object.keys(server))
    if (!known.includes(field)) refuse(`has an unknown field "${field}"; known are ${known.join(", ")}`);
  checkTypes(server, refuse);
  const filled = expand(server, variables, refuse) as ServerConfig;
  if (!isStdio && !/^https?:$/.test(protocolOf((filled as HttpConfig).url)))
    refuse("needs a `url` that begins with http:// or https://");
  return filled;
}

type Refuse = (problem: string) => never;

function checkTypes(server: Record<string, unknown>, refuse: Refuse): void {
  checkSettings(server, refuse);
  if (server.command === "") refuse("has an empty `command`");
  if (server.cwd !== undefined && typeof server.cwd !== "string") refuse("has a `cwd` that is not a text");
  for (const field of ["env", "headers", "oauth"])
    if (server[field] !== undefined && !isRecordOfTexts(server[field]))
      refuse(`has an \`${field}\` that is not an object of texts`);
  for (const field of Object.keys(server.oauth ?? {}))
    if (!oauthFields.includes(field))
      refuse(`has an unknown field "oauth.${field}"; known are ${oauthFields.join(", ")}`);
  if (server.oauth !== undefined && server.type === "http-rest")
    refuse("has `oauth`, which does not go with its type http-rest: use `headers`");
  if (server.args !== undefined && !isListOfTexts(server.args))
    refuse("has `args` that are not a list of texts");
  checkTools(server.tools ?? {}, refuse);
}

function checkTools(tools: unknown, refuse: Refuse): void {
  const known = ["enabled", "timeout", ...labelFields];
  for (const [tool, config] of Object.entries(
    isRecord(tools) ? tools : refuse("has `tools` that are not an object"),
  )) {
    const refuseTool: Refuse = (problem) =>
      refuse(`says of its tool "${tool}" what cannot be used: it ${problem}`);
    const fields = isRecord(config) ? config : refuseTool("is not an object");
    for (const field of Object.keys(fields))
      if (!known.includes(field))
        refuseTool(`has an unknown field "${field}"; known are ${known.join(", ")}`);
    checkSettings(fields, refuseTool);
  }
}

/** What can be said of a server and of a tool alike, in the same way. */
function checkSettings(settings: Record<string, unknown>, refuse: Refuse): void {
  for (const field of ["timeout", "startTimeout"])
    if (settings[field] !== undefined && !isTimeout(settings[field]))
      refuse(`has a \`${field}\` that is not a number of milliseconds from 1 to ${longestTimer}`);
  for (const field of ["enabled", "required", "trustAnnotations", "idempotent", "needsApproval"])
    if (settings[field] !== undefined && typeof settings[field] !== "boolean")
      refuse(`has a \`${field}\` that is neither true nor false`);
  const { effects, reads } = settings;
  if (effects !== undefined && !["none", "ui", "state", "send"].includes(effects as string))
    refuse("has `effects` other than none, ui, state or send");
  const labels = ["public", "private", "untrusted"];
  if (reads !== undefined && !(isListOfTexts(reads) && reads.every((label) => labels.includes(label))))
    refuse(`has \`reads\` that are not a list of ${labels.join(", ")}`);
}

function isTimeout(value: unknown): boolean {
  return typeof value === "number" && value >= 1 && value <= longestTimer;
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isRecordOfTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === "string");
}

import { AgentError, type Effects, isRecord, type Reads } from "capstan";
import type { OAuthOptions } from "../oauth/oauth-provider.ts";
import type { StdioSettings } from "../transport/stdio-transport.ts";
import { expandVariables, type Variables } from "./expand-variables.ts";

/** Overrides of the default labels: untrusted, private, state-changing. */
export type LabelOverrides = {
  readonly effects?: Effects;
  readonly reads?: readonly Reads[];
  readonly idempotent?: boolean;
  /** Whether calls need approval. Default: if the server marks the tool as destructive. */
  readonly needsApproval?: boolean;
};

/** Settings of one tool, by the server's name for it. */
export type ToolConfig = LabelOverrides & {
  readonly enabled?: boolean;
  readonly timeout?: number;
  readonly defer?: boolean;
};

/** Settings of every kind of server. */
export type CommonConfig = LabelOverrides & {
  /** `false`: the server is not started. */
  readonly enabled?: boolean;
  /** Milliseconds per call. */
  readonly timeout?: number;
  /** Milliseconds for startup, and again for listing the tools; default 10,000. */
  readonly startTimeout?: number;
  /** `mcpTools` rejects if this server does not start. */
  readonly required?: boolean;
  /** You vouch for the texts of this server that the model reads. By default they are untrusted until you approve them. */
  readonly trust?: "metadata";
  /** Trust the server's `readOnlyHint` and `idempotentHint`. */
  readonly trustAnnotations?: boolean;
  /** The model finds the tools with `search_tools` before it gets them. False: it always gets them. */
  readonly defer?: boolean;
  readonly tools?: Readonly<Record<string, ToolConfig>>;
};

/** A server as a child process. */
export type StdioConfig = CommonConfig & StdioSettings & { readonly type?: "stdio" };

/** A server with a URL: `http` is MCP's streamable HTTP, `http-rest` plain requests to `/tools/list` and `/tools/call`. */
export type HttpConfig = CommonConfig & {
  readonly type?: "http" | "streamable-http" | "http-rest";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For a server that requires sign-in: a registered client, and the scope to request. */
  readonly oauth?: OAuthConfig;
};

export type OAuthConfig = Pick<OAuthOptions, "clientId" | "clientSecret" | "clientMetadataUrl" | "scope">;

export type ServerConfig = StdioConfig | HttpConfig;

const commonFields = [
  ...["type", "enabled", "timeout", "startTimeout", "required", "trust", "trustAnnotations", "tools"],
  "defer",
];
const labelFields = ["effects", "reads", "idempotent", "needsApproval"];
const stdioFields = ["command", "args", "env", "cwd"];
const httpFields = ["url", "httpUrl", "headers", "oauth"];
const oauthFields = ["clientId", "clientSecret", "clientMetadataUrl", "scope"];
const transportTypes = ["stdio", "http", "streamable-http", "http-rest"];
/** Node fires timers with a longer delay immediately. */
const maxTimerMs = 2 ** 31 - 1;

/** Validates one entry of `mcpServers` and expands its variables. Throws `mcp_config`, naming the server and the field. */
export function parseServerConfig(name: string, entry: unknown, variables: Variables): ServerConfig {
  const fail = (problem: string): never => {
    throw new AgentError("mcp_config", `The MCP server "${name}" ${problem}.`);
  };
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name))
    fail("has an invalid name: use at most 41 letters, digits, - and _");
  if (!isRecord(entry)) return fail("must be an object with `command` or `url`");
  const { httpUrl, ...fields } = entry;
  const server = httpUrl === undefined ? fields : { type: "http", url: httpUrl, ...fields };
  const isStdio = typeof server.command === "string";
  if (isStdio === (typeof server.url === "string")) fail("needs either a `command` or a `url`");
  if (server.type !== undefined && !transportTypes.includes(server.type as string))
    fail(`has an invalid type ${JSON.stringify(server.type)}: use ${transportTypes.join(", ")}`);
  if (server.type !== undefined && isStdio !== (server.type === "stdio"))
    fail(`has the type "${server.type}", which does not match its \`${isStdio ? "command" : "url"}\``);
  const knownFields = [...commonFields, ...labelFields, ...(isStdio ? stdioFields : httpFields)];
  for (const field of Object.keys(server))
    if (!knownFields.includes(field))
      fail(`has an unknown field "${field}". Known fields: ${knownFields.join(", ")}`);
  checkTypes(server, fail);
  const expanded = expandVariables(server, variables, fail) as ServerConfig;
  if (!isStdio && !/^https?:$/.test(getProtocol((expanded as HttpConfig).url)))
    fail("needs a `url` that starts with http:// or https://");
  return expanded;
}

type Fail = (problem: string) => never;

function checkTypes(server: Record<string, unknown>, fail: Fail): void {
  checkSettings(server, fail);
  if (server.trust !== undefined && server.trust !== "metadata")
    fail('has an invalid `trust`: use "metadata", or remove it');
  if (server.command === "") fail("has an empty `command`");
  if (server.cwd !== undefined && typeof server.cwd !== "string") fail("has a `cwd` that is not a string");
  for (const field of ["env", "headers", "oauth"])
    if (server[field] !== undefined && !isStringRecord(server[field]))
      fail(`has an \`${field}\` that is not an object of strings`);
  for (const field of Object.keys(server.oauth ?? {}))
    if (!oauthFields.includes(field))
      fail(`has an unknown field "oauth.${field}". Known fields: ${oauthFields.join(", ")}`);
  if (server.oauth !== undefined && server.type === "http-rest")
    fail("has `oauth`, which http-rest does not support: use `headers`");
  if (server.args !== undefined && !isStringArray(server.args))
    fail("has `args` that are not an array of strings");
  checkTools(server.tools ?? {}, fail);
}

function checkTools(tools: unknown, fail: Fail): void {
  const knownFields = ["enabled", "timeout", "defer", ...labelFields];
  for (const [tool, config] of Object.entries(
    isRecord(tools) ? tools : fail("has `tools` that are not an object"),
  )) {
    const failForTool: Fail = (problem) => fail(`has invalid settings for the tool "${tool}": it ${problem}`);
    const fields = isRecord(config) ? config : failForTool("is not an object");
    for (const field of Object.keys(fields))
      if (!knownFields.includes(field))
        failForTool(`has an unknown field "${field}". Known fields: ${knownFields.join(", ")}`);
    checkSettings(fields, failForTool);
  }
}

/** Checks the fields that servers and tools have in common. */
function checkSettings(settings: Record<string, unknown>, fail: Fail): void {
  for (const field of ["timeout", "startTimeout"])
    if (settings[field] !== undefined && !isTimeout(settings[field]))
      fail(`has a \`${field}\` that is not a number of milliseconds from 1 to ${maxTimerMs}`);
  for (const field of ["enabled", "required", "trustAnnotations", "defer", "idempotent", "needsApproval"])
    if (settings[field] !== undefined && typeof settings[field] !== "boolean")
      fail(`has a \`${field}\` that is not a boolean`);
  const { effects, reads } = settings;
  if (effects !== undefined && !["none", "ui", "state", "send"].includes(effects as string))
    fail("has invalid `effects`: use none, ui, state or send");
  const labels = ["public", "private", "untrusted"];
  if (reads !== undefined && !(isStringArray(reads) && reads.every((label) => labels.includes(label))))
    fail(`has \`reads\` that are not an array of ${labels.join(", ")}`);
}

function isTimeout(value: unknown): boolean {
  return typeof value === "number" && value >= 1 && value <= maxTimerMs;
}

function getProtocol(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isStringRecord(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === "string");
}

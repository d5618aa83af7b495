import type { AgentProfile } from "@capstan/server";
import { AgentError, isRecord, suggestName } from "capstan";
import type { Config } from "./config.ts";

type Check = (value: unknown) => boolean;

const isNonEmptyText: Check = (value) => typeof value === "string" && value !== "";
const createListCheck =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isAgent: Check = (value) => isRecord(value) && isNonEmptyText(value.name) && isRecord(value.models);
const isModel: Check = (value) =>
  isNonEmptyText(value) || (isRecord(value) && typeof value.stream === "function");
const isEventView: Check = (value) =>
  isRecord(value) && isNonEmptyText(value.description) && typeof value.create === "function";
const isLoader: Check = (value) =>
  isRecord(value) && typeof value.load === "function" && Array.isArray(value.extensions);
const toolSets: readonly unknown[] = ["files", "web", "plan", "shell", "memory", "schedule"];
const isTool: Check = (value) => toolSets.includes(value) || (isRecord(value) && isRecord(value.schema));
const isCount: Check = (value) => Number.isInteger(value) && Number(value) > 0;
const isPort: Check = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;

type Field = { readonly check: Check; readonly expected: string };

const fields: { readonly [Name in keyof Required<Config>]: Field } = {
  agents: { check: createListCheck(isAgent), expected: "a list of agents, each made with `defineAgent`" },
  about: { check: isRecord, expected: 'an object, such as { helper: { title: "Helper" } }' },
  eventViews: {
    check: (value) => isRecord(value) && Object.values(value).every(isEventView),
    expected: "an object of views, each with `description` and `create`",
  },
  webhooks: {
    check: (value) => isRecord(value) && Object.values(value).every(isRecord),
    expected: 'an object, such as { tickets: { provider: "generic", secret: process.env.TICKETS_SECRET } }',
  },
  data: {
    check: (value) => isRecord(value) && Object.values(value).every(isLoader),
    expected: "an object with one loader per app, such as { notes: loader }",
  },
  mcpServers: { check: isRecord, expected: "an object with one entry per server" },
  mcp: { check: isRecord, expected: "the result of `mcpTools`" },
  policy: { check: isRecord, expected: "an object, such as { maxTurns: 20 }" },
  models: {
    check: createListCheck(isModel),
    expected: 'a list of names such as "openai/gpt-5-mini", or of models',
  },
  tools: {
    check: createListCheck(isTool),
    expected:
      'a list of "files", "web", "plan", "shell", "memory", "schedule" and tools made with `defineTool`',
  },
  skills: { check: createListCheck(isNonEmptyText), expected: 'a list of folders, such as ["./skills"]' },
  storedAgents: { check: isRecord, expected: "an object, such as { tools: [search] }" },
  server: { check: isRecord, expected: "an object, such as { port: 4000 }" },
  database: { check: isNonEmptyText, expected: "a file path, or postgres://…" },
  engine: {
    check: (value) => typeof value === "function" || isNonEmptyText(value),
    expected: '"local", "restate", "dbos", or a function that creates an engine',
  },
  project: { check: isNonEmptyText, expected: "a name" },
  logs: {
    check: (value) => typeof value === "boolean" || isRecord(value),
    expected: 'true, false, or an object, such as { directory: "logs" }',
  },
  evals: { check: createListCheck(isNonEmptyText), expected: 'a list of folders, such as ["evals"]' },
  close: { check: (value) => typeof value === "function", expected: "a function" },
};

const serverFields: { readonly [name: string]: Field } = {
  port: { check: isPort, expected: "a whole number from 0 to 65535" },
  host: { check: isNonEmptyText, expected: "a host name or an address" },
  apiKey: { check: isNonEmptyText, expected: "a string" },
  hosts: { check: createListCheck(isNonEmptyText), expected: "a list of names" },
  origins: { check: createListCheck(isNonEmptyText), expected: 'a list such as ["https://example.org"]' },
  quotas: { check: isRecord, expected: "an object, such as { default: { runs: { day: 100 } } }" },
  rateLimits: {
    check: isRecord,
    expected: "an object, such as { openai: { requests: { minute: 500 } } }",
  },
  maxRuns: { check: isCount, expected: "a whole number above 0" },
  leaseMs: { check: isCount, expected: "milliseconds, such as 15000" },
  load: { check: isRecord, expected: "an object, such as { maxDelayMs: 250 }" },
  policyLimits: { check: isRecord, expected: "an object, such as { maxTurns: 50 }" },
  mcpCommands: { check: (value) => typeof value === "boolean", expected: "true or false" },
  settingsLimits: { check: isRecord, expected: 'an object, such as { effort: "medium" }' },
  retention: { check: isRecord, expected: "an object, such as { olderThanDays: 90 }" },
  clientProvenance: {
    check: (value) => value === "application" || value === "operator",
    expected: '"application" or "operator"',
  },
  sseLog: { check: (value) => value === true || isNonEmptyText(value), expected: "a file, or true" },
};

const pictures: readonly AgentProfile["picture"][] = ["chat", "files", "graph", "map", "sources", "tools"];

const profileFields: { readonly [name: string]: Field } = {
  title: { check: isNonEmptyText, expected: "a string" },
  description: { check: isNonEmptyText, expected: "a string" },
  suggestions: { check: createListCheck(isNonEmptyText), expected: "a list of strings" },
  topics: { check: createListCheck(isNonEmptyText), expected: "a list of strings" },
  picture: {
    check: (value) => pictures.some((picture) => picture === value),
    expected: `one of ${pictures.join(", ")}`,
  },
};

const logFields: { readonly [name: string]: Field } = {
  directory: { check: isNonEmptyText, expected: "a folder" },
  deltas: { check: (value) => typeof value === "boolean", expected: "true or false" },
};

/** Validates the default export of a config file. Errors name the field but never a value, which may be secret. */
export function checkConfig(value: unknown, file: string): Config {
  if (!isRecord(value)) {
    const message = `${file} has no default export. Add \`export default defineConfig({ … })\`.`;
    throw new AgentError("invalid_definition", message);
  }
  checkFields(value, fields, { file, path: "" });
  if (isRecord(value.server)) checkFields(value.server, serverFields, { file, path: "server." });
  if (isRecord(value.logs)) checkFields(value.logs, logFields, { file, path: "logs." });
  if (isRecord(value.about)) checkProfiles(value.about, file);
  return value as Config;
}

function checkProfiles(about: Record<string, unknown>, file: string): void {
  for (const [agent, introduction] of Object.entries(about)) {
    if (!isRecord(introduction))
      throw new AgentError("invalid_definition", `${file}: "about.${agent}" must be an object.`);
    checkFields(introduction, profileFields, { file, path: `about.${agent}.` });
  }
}

function checkFields(
  value: Record<string, unknown>,
  known: { readonly [name: string]: Field },
  { file, path }: { readonly file: string; readonly path: string },
): void {
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!field) {
      const hint =
        suggestName(name, Object.keys(known)) || ` Known fields: ${Object.keys(known).join(", ")}.`;
      throw new AgentError("invalid_definition", `${file} has an unknown field "${path}${name}".${hint}`);
    }
    if (field.check(item)) continue;
    throw new AgentError("invalid_definition", `${file}: "${path}${name}" must be ${field.expected}.`);
  }
}

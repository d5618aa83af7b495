import { assert, constantFrom, dictionary, jsonValue, oneof, property, record, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { parseServerConfig } from "./server-config.ts";

const read = (entry: unknown, name = "notes") => parseServerConfig(name, entry, {});
const stdio = { command: "node" };
const http = { url: "https://example.org/mcp" };

function getProblem(entry: unknown, name = "notes"): string {
  try {
    read(entry, name);
  } catch (error) {
    expect(error).toMatchObject({ name: "AgentError", code: "mcp_config" });
    return (error as Error).message;
  }
  throw new Error(`It was accepted: ${JSON.stringify(entry)}`);
}

/** A field, what it cannot be, and of which kind of server. */
const wrong: readonly (readonly [field: string, entry: object])[] = [
  ["command", {}],
  ["url", { command: 5 }],
  ["command", { ...stdio, ...http }],
  ["command", { command: "" }],
  ["type", { ...stdio, type: "sse" }],
  ["type", { ...stdio, type: ["stdio"] }],
  ["type", { ...stdio, type: "http" }],
  ["type", { ...http, type: "stdio" }],
  ["args", { ...stdio, args: "-v" }],
  ["args", { ...stdio, args: [1] }],
  ["env", { ...stdio, env: ["A=1"] }],
  ["env", { ...stdio, env: { A: 1 } }],
  ["cwd", { ...stdio, cwd: 1 }],
  ["headers", { ...http, headers: { a: null } }],
  ["url", { url: "example.org" }],
  ["url", { url: "file:///etc/passwd" }],
  ["url", { httpUrl: "ftp://example.org" }],
  ["headers", { ...stdio, headers: {} }],
  ["args", { ...http, args: [] }],
  ["enabld", { ...stdio, enabld: true }],
  ...["enabled", "required", "trustAnnotations", "idempotent", "needsApproval"].map(
    (field) => [field, { ...stdio, [field]: "yes" }] as const,
  ),
  ...["timeout", "startTimeout"].flatMap((field) =>
    [0, -1, "5", Number.NaN, Infinity, 2 ** 31, null].map(
      (value) => [field, { ...http, [field]: value }] as const,
    ),
  ),
  ["effects", { ...stdio, effects: "some" }],
  ["effects", { ...stdio, effects: ["none"] }],
  ["reads", { ...stdio, reads: "public" }],
  ["reads", { ...stdio, reads: ["secret"] }],
  ["tools", { ...stdio, tools: [] }],
  ["oauth", { ...http, oauth: "yes" }],
  ["oauth", { ...http, oauth: { clientId: 1 } }],
  ["oauth.serverUrl", { ...http, oauth: { serverUrl: "https://example.net" } }],
  ["oauth", { ...http, type: "http-rest", oauth: {} }],
  ["oauth", { ...stdio, oauth: {} }],
];

const wrongOfTool: readonly (readonly [field: string, settings: unknown])[] = [
  ["search", null],
  ["enabled", { enabled: 0 }],
  ["timeout", { timeout: "1" }],
  ["idempotent", { idempotent: 1 }],
  ["needsApproval", { needsApproval: "always" }],
  ["defer", { defer: "yes" }],
  ["effects", { effects: "all" }],
  ["reads", { reads: [1] }],
  ["required", { required: true }],
];

describe("the entry of a server", () => {
  it.each(wrong)("with a wrong `%s` is refused by the names of server and field: %j", (field, entry) => {
    const message = getProblem(entry);
    expect(message).toContain('The MCP server "notes"');
    expect(message).toContain(field);
  });

  it.each(wrongOfTool)("with a wrong `%s` of a tool is refused by name: %j", (field, settings) => {
    const message = getProblem({ ...stdio, tools: { search: settings } });
    expect(message).toContain('The MCP server "notes" has invalid settings for the tool "search"');
    expect(message).toContain(field);
  });

  it.each([null, [], "node server.js", 5])("must be an object, not %j", (entry) => {
    expect(getProblem(entry)).toContain("must be an object");
  });

  it.each([
    "",
    "a b",
    "-a",
    "__proto__",
    "ä",
    "a.b",
    "a".repeat(42),
  ])("needs a usable name, not %j (A51)", (name) => {
    expect(getProblem(stdio, name)).toContain("has an invalid name");
  });

  it("may have every option", () => {
    const common = {
      ...{ enabled: true, timeout: 5000, startTimeout: 1, required: false, trustAnnotations: true },
      ...{ effects: "none", reads: ["public"], idempotent: true, needsApproval: false },
      defer: true,
      tools: {
        "a.b": { enabled: false, defer: false, timeout: 1, effects: "send", reads: [], idempotent: false },
      },
    };
    const child = { type: "stdio", command: "node", args: ["a"], env: { A: "1" }, cwd: ".", ...common };
    const remote = {
      type: "streamable-http",
      ...http,
      headers: { "x-a": "1" },
      oauth: { clientId: "a" },
      ...common,
    };
    expect(read(child)).toEqual(child);
    expect(read(remote)).toEqual(remote);
    expect(read({ type: "http-rest", ...http })).toEqual({ type: "http-rest", ...http });
  });

  it("may use the name that others have for a URL", () => {
    expect(read({ httpUrl: "https://example.org/mcp" })).toEqual({ type: "http", ...http });
  });

  it("gets its variables, and the URL is checked after that (S4-63)", () => {
    const entry = { url: `\${BASE}/mcp`, headers: { authorization: `Bearer \${KEY:-none}` } };
    const filled = { url: "http://127.0.0.1:1/mcp", headers: { authorization: "Bearer none" } };
    expect(parseServerConfig("notes", entry, { BASE: "http://127.0.0.1:1" })).toEqual(filled);
    expect(() => parseServerConfig("notes", entry, { BASE: "file://" })).toThrow("`url`");
    expect(() => parseServerConfig("notes", entry, {})).toThrow(
      'The MCP server "notes" needs the environment variable BASE',
    );
  });

  it("is either survived or refused by name, whatever it is", () => {
    const field = constantFrom(
      ...wrong.map(([name]) => name),
      ...["enabled", "required", "tools", "idempotent"],
    );
    const entry = oneof(
      jsonValue(),
      record({ command: string(), more: dictionary(field, jsonValue()) }).map(({ command, more }) => ({
        command,
        ...more,
      })),
    );
    assert(
      property(string(), entry, (name, value) => {
        try {
          parseServerConfig(name, value, {});
        } catch (error) {
          expect(error).toMatchObject({ code: "mcp_config", message: expect.stringContaining(`"${name}"`) });
        }
      }),
    );
  });
});

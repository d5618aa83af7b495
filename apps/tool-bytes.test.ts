// The bytes of the tool definitions that each app sends with every request, on every wire. A larger figure costs every user of
// the app money: raise a bound only with a reason.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, type Model, run } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { azure } from "capstan/models/azure";
import { bedrock } from "capstan/models/bedrock";
import { compatible } from "capstan/models/compatible";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { textDialect } from "capstan/models/text-dialect";
import { vertex } from "capstan/models/vertex";
import { memory } from "capstan/stores/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { airport } from "./airport/agent.ts";
import { fileBookmarks } from "./airport/bookmarks.ts";
import { files } from "./files/agent.ts";
import { graph } from "./graph/agent.ts";
import { knowledge } from "./knowledge/agent.ts";
import { createLibrary } from "./knowledge/library/library.ts";
import { bridge } from "./mcp-bridge/agent.ts";
import { startChildServers } from "./mcp-bridge/child-servers.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-tool-bytes-"));
const library = createLibrary({ indexFolder: false });
let mcp: Awaited<ReturnType<typeof startChildServers>>;

beforeAll(async () => {
  mcp = await startChildServers({ dataFolder: folder });
});
afterAll(async () => {
  await mcp.close();
  rmSync(folder, { recursive: true });
});

type App = "airport" | "files" | "graph" | "knowledge" | "mcp-bridge";

const apps: Readonly<Record<App, (model: Model) => Promise<Agent>>> = {
  airport: (model) => airport({ model, bookmarks: fileBookmarks(folder) }),
  files: (model) => files({ model, studio: true }),
  graph: (model) => graph({ model, folder }),
  knowledge: async (model) => (await knowledge({ model, library }))[0],
  "mcp-bridge": (model) => bridge({ model, mcp, web: {}, dialect: "native" }),
};

type Client = { readonly apiKey: string; readonly fetch: typeof fetch };

type Wire = { readonly bound: 0 | 1 | 2 | 3; create(client: Client): Model };

const wires: Readonly<Record<string, Wire>> = {
  "OpenAI responses": { bound: 0, create: (client) => openai({ ...client, model: "gpt-5.2" }) },
  "OpenAI chat": { bound: 0, create: (client) => openai({ ...client, model: "gpt-4o", api: "chat" }) },
  Azure: { bound: 0, create: (client) => azure({ ...client, model: "gpt-5.2", resource: "r" }) },
  compatible: {
    bound: 0,
    create: (client) => compatible({ ...client, model: "m", baseURL: "http://models.example/v1" }),
  },
  Anthropic: { bound: 1, create: (client) => anthropic({ ...client, model: "claude-sonnet-4-5" }) },
  Bedrock: {
    bound: 1,
    create: (client) => bedrock({ ...client, model: "anthropic.claude-sonnet-4-5", region: "us-east-1" }),
  },
  Gemini: { bound: 2, create: (client) => gemini({ ...client, model: "gemini-2.5-pro" }) },
  Vertex: {
    bound: 2,
    create: ({ fetch }) => vertex({ fetch, model: "gemini-2.5-pro", project: "p", token: async () => "t" }),
  },
  "text dialect": {
    bound: 3,
    create: (client) => textDialect(openai({ ...client, model: "gpt-4o", api: "chat" })),
  },
};

/** Returns the body of the first request of a run. */
async function captureBody(app: App, wire: string): Promise<string> {
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(String(init?.body));
    return Response.json({ error: { message: "no" } }, { status: 400 });
  };
  const agent = await apps[app]((wires[wire] as Wire).create({ apiKey: "key", fetch }));
  await run(agent, "Hello", { store: memory() });
  return bodies[0] ?? "";
}

/** The text dialect lists the tools in the system message. */
function getToolText(body: string): string {
  const { tools, messages } = JSON.parse(body);
  if (tools) return JSON.stringify(tools);
  const [, listed = ""] = messages[0].content.split("AVAILABLE TOOLS:\n");
  return listed.split("\n\nWhen you need a tool")[0];
}

/** The OpenAI wires, the Anthropic wires, the Gemini wires, and the text dialect. */
const bounds: Readonly<
  Record<App, readonly [openai: number, anthropic: number, gemini: number, text: number]>
> = {
  airport: [5_200, 4_900, 5_000, 4_600],
  files: [3_600, 3_500, 3_500, 3_300],
  graph: [7_200, 6_800, 6_900, 6_500],
  knowledge: [3_200, 3_100, 3_100, 2_900],
  "mcp-bridge": [2_800, 2_600, 2_600, 2_300],
};

describe.each(Object.keys(wires))("on the %s wire", (wire) => {
  it.each(
    Object.keys(apps) as App[],
  )("%s sends few bytes of tools, and no phrase of the offline model", async (app) => {
    const text = getToolText(await captureBody(app, wire));
    expect(text.length).toBeGreaterThan(1_000);
    expect(text).not.toContain('"phrase"');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bounds[app][(wires[wire] as Wire).bound]);
  });
});

it("no MCP server of the apps has a phrase in the schemas that it lists to other clients", async () => {
  const schemas = JSON.stringify(mcp.tools.map(({ schema }) => schema.json));
  expect(schemas).not.toContain('"phrase"');
  expect(mcp.tools.every(({ examples = [] }) => examples.length > 0)).toBe(true);
});

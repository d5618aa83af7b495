// The client under test: one MCP server by URL, through `mcpTools`.
import { randomUUID } from "node:crypto";
import { AgentError, type Answer, type Question, type Tool, type ToolContext } from "capstan";
import type { HttpConfig } from "../src/client/config/server-config.ts";
import { mcpTools } from "../src/client/mcp-tools.ts";
import type { Redirect } from "../src/client/oauth/redirect.ts";
import { memoryTokens } from "../src/client/oauth/token-store.ts";

export type ConformanceConnection = {
  /** Input schemas by the server's tool names. */
  readonly tools: ReadonlyMap<string, unknown>;
  call(tool: string, input: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Reads every resource that the server lists. */
  readResources(): Promise<void>;
  getPrompts(): Promise<void>;
  close(): Promise<void>;
};

const server = "server";
const prefix = `mcp_${server}_`;

/** No browser: consent is automatic. */
const redirect: Redirect = {
  url: "http://127.0.0.1:18917/callback",
  async authorize({ url, signal }) {
    const { headers } = await fetch(url, { redirect: "manual", signal });
    return new URL(headers.get("location") ?? url).searchParams;
  },
};

/** A preregistered client, if there is one. */
export type Identity = NonNullable<HttpConfig["oauth"]>;

/** Connects, signs in if required, and lists the tools. */
export async function connect(url: string, identity: Identity = {}): Promise<ConformanceConnection> {
  const mcp = await mcpTools({
    mcpServers: { [server]: { url, required: true, oauth: identity } },
    oauth: { tokens: memoryTokens(), redirect },
  });
  const findTool = (name: string): Tool => {
    const found = mcp.tools.find((tool) => tool.name === `${prefix}${name}`);
    if (found) return found;
    throw new AgentError("unknown_tool", `The server has no tool "${name}".`);
  };
  return {
    tools: new Map(mcp.tools.map(({ name, schema }) => [name.slice(prefix.length), schema.json])),
    call: async (name, input) => executeTool(findTool(name), input),
    async readResources() {
      for (const { uri } of await mcp.resources(server)) await mcp.readResource(server, uri);
    },
    async getPrompts() {
      for (const { name } of await mcp.prompts(server)) await mcp.getPrompt(server, name);
    },
    close: () => mcp.close(),
  };
}

/** Executes a tool like a run: answers its questions and executes it again. */
async function executeTool(tool: Tool, input: Readonly<Record<string, unknown>>): Promise<unknown> {
  const answers: Answer[] = [];
  const context: ToolContext = {
    signal: AbortSignal.timeout(20_000),
    ...{ runId: "run", sessionId: "session", callId: "call", idempotencyKey: randomUUID() },
    context: undefined,
    answers,
    progress: () => undefined,
    readBlob: () => Promise.resolve(undefined),
  };
  for (;;) {
    const result = (await tool.execute?.(input, context)) as { ask?: Question; error?: unknown };
    if (result.error) throw new Error(`The tool failed: ${JSON.stringify(result.error)}`);
    if (!result.ask) return result;
    answers.push(createAgreement(result.ask));
  }
}

/** Approves a form with its default values. */
function createAgreement({ state }: Question): Answer {
  return { approved: true, value: {}, ...(state !== undefined && { state }) };
}

// What the scenarios need of the client under test, and nothing more: one MCP server by its URL, through `mcpTools`.
import { randomUUID } from "node:crypto";
import { AgentError, type Answer, type Question, type Tool, type ToolContext } from "capstan";
import type { HttpConfig } from "../src/client/config.ts";
import { mcpTools } from "../src/client/mcp-tools.ts";
import type { Redirect } from "../src/client/oauth/redirect.ts";
import { memoryTokens } from "../src/client/oauth/token-store.ts";

export type Connection = {
  /** The schema of each tool that may be called, by the server's name for it. */
  readonly tools: ReadonlyMap<string, unknown>;
  call(tool: string, input: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Reads whatever the server lists. */
  readResources(): Promise<void>;
  getPrompts(): Promise<void>;
  close(): Promise<void>;
};

const server = "server";
const prefix = `mcp_${server}_`;

/** There is no browser: whoever would be shown the page has agreed already. */
const redirect: Redirect = {
  url: "http://127.0.0.1:18917/callback",
  async authorize({ url, signal }) {
    const { headers } = await fetch(url, { redirect: "manual", signal });
    return new URL(headers.get("location") ?? url).searchParams;
  },
};

/** Who the client is to the authorization server, where that is known before. */
export type Identity = NonNullable<HttpConfig["oauth"]>;

/** Connects, signs in where it must, and lists the tools. */
export async function connect(url: string, identity: Identity = {}): Promise<Connection> {
  const mcp = await mcpTools({
    mcpServers: { [server]: { url, required: true, oauth: identity } },
    oauth: { tokens: memoryTokens(), redirect },
  });
  const toolNamed = (name: string): Tool => {
    const found = mcp.tools.find((tool) => tool.name === `${prefix}${name}`);
    if (found) return found;
    throw new AgentError("unknown_tool", `The server has no tool "${name}".`);
  };
  return {
    tools: new Map(mcp.tools.map(({ name, schema }) => [name.slice(prefix.length), schema.json])),
    call: async (name, input) => execute(toolNamed(name), input),
    async readResources() {
      for (const { uri } of await mcp.resources(server)) await mcp.readResource(server, uri);
    },
    async getPrompts() {
      for (const { name } of await mcp.prompts(server)) await mcp.getPrompt(server, name);
    },
    close: () => mcp.close(),
  };
}

/** As a run does it: a question goes to a person, and the tool is executed again with the answer. */
async function execute(tool: Tool, input: Readonly<Record<string, unknown>>): Promise<unknown> {
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
    answers.push(agreement(result.ask));
  }
}

/** A person who agrees to the form as it is shown. */
function agreement({ state }: Question): Answer {
  return { approved: true, value: {}, ...(state !== undefined && { state }) };
}

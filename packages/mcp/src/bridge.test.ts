import { createRequire } from "node:module";
import { defineAgent, type Entry, run } from "capstan";
import { readableLog, reasoningLog } from "capstan/logs";
import { textDialect } from "capstan/models";
import { type Script, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type McpTools, mcpTools } from "./client/mcp-tools.ts";
import { compileCache } from "./client/testing/test-servers.ts";
import { serveMcp } from "./server/serve-mcp.ts";
import { connect } from "./server/testing/connect.ts";
import { listenOnLoopback } from "./server/testing/listen.ts";

const everything = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

let mcp: McpTools;
beforeAll(async () => {
  mcp = await mcpTools({
    mcpServers: {
      // A server that only reads: the user says so.
      every: {
        ...{ command: process.execPath, args: [everything], env: compileCache },
        ...{ effects: "none", startTimeout: 60_000 },
      },
      broken: { command: process.execPath, args: ["-e", "process.exit(1)"] },
    },
  });
});
afterAll(() => mcp.close());

/** What a client of the given era is answered when it asks an agent with the child's tools, question after question. */
async function ask(script: Script, prompts: readonly string[], era: "modern" | "legacy"): Promise<Answer[]> {
  const helper = defineAgent({ name: "helper", model: scriptedModel(script), tools: () => mcp.tools });
  const listening = await listenOnLoopback(serveMcp({ agents: [helper] }));
  const client = await connect(listening.url, era);
  try {
    const answers: Answer[] = [];
    for (const prompt of prompts) {
      const session = answers.at(-1)?.session;
      const input = { prompt, ...(session !== undefined && { sessionId: session }) };
      const { structuredContent } = await client.callTool({ name: "query", arguments: input });
      answers.push(structuredContent as Answer);
    }
    return answers;
  } finally {
    await client.close();
    await listening.close();
  }
}

type Answer = { answer: string; status: string; session: string; tools: { name: string; status: string }[] };

const lastResult = (history: readonly Entry[]) => history.findLast((entry) => entry.type === "result");

describe.each([
  "modern",
  "legacy",
] as const)("an MCP client of the %s era asks an agent that uses an MCP server", (era) => {
  it("and gets the answer; with the session, the agent remembers it (M1, M5, S4-54, S4-55, S4-56)", async () => {
    const script: Script = ({ history }) => {
      const asked = history.filter((entry) => entry.type === "user").length;
      if (asked > 1) return { text: `Before, the tool said: ${lastResult(history)?.content}` };
      if (lastResult(history)) return { text: `The tool says: ${lastResult(history)?.content}` };
      return { calls: [{ name: "mcp_every_echo", input: { message: "hello" } }] };
    };
    const [first, second] = await ask(script, ["Say hello.", "What was it?"], era);
    expect(first).toMatchObject({
      status: "done",
      answer: "The tool says: Echo: hello",
      tools: [{ name: "mcp_every_echo", status: "ok" }],
    });
    expect(second).toMatchObject({ answer: "Before, the tool said: Echo: hello", session: first?.session });
  });
});

describe("an agent whose model writes calls as text", () => {
  it("calls two tools of a server in one answer, with nested multi-line JSON; its reasoning is not in the answer (M2)", async () => {
    const said = [
      "[Thinking: Both at once.]",
      "TOOL_CALL: mcp_every_echo",
      'ARGUMENTS: {\n  "message": "{\\"nested\\": [1, {\\"two\\": \\"}\\"}]}"\n}',
      "TOOL_CALL: mcp_every_get-sum",
      'ARGUMENTS: {"a": 2,\n "b": 3}',
    ].join("\n");
    const inner = scriptedModel(({ history }) =>
      history.some((entry) => entry.type !== "user")
        ? { text: "[Thinking: Now I know.]\nIt is 5." }
        : { text: said },
    );
    const thoughts: string[] = [];
    const lines: string[] = [];
    const think = reasoningLog((line) => thoughts.push(line));
    const note = readableLog((line) => lines.push(line));
    const agent = defineAgent({ name: "helper", model: textDialect(inner), tools: () => mcp.tools });
    const result = await run(agent, "Add them.", {
      hooks: {
        onEvent(event) {
          think(event);
          note(event);
        },
      },
    });
    expect(result.toolCalls.map(({ name, status }) => [name, status])).toEqual([
      ["mcp_every_echo", "ok"],
      ["mcp_every_get-sum", "ok"],
    ]);
    expect(result.toolCalls[0]?.result).toBe('Echo: {"nested": [1, {"two": "}"}]}');
    expect(result.text).toBe("It is 5.");
    expect(thoughts.join("")).toContain("Both at once.");
    expect(thoughts.join("")).toContain("Now I know.");
  });
});

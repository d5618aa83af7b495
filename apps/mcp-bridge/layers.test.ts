// One question passes through every layer of the bridge, and each layer leaves something to check.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { bridge } from "./agent.ts";
import { createBridgeService } from "./bridge-service.ts";
import { startChildServers } from "./child-servers.ts";
import { formatTextCall } from "./testing/text-call.ts";

const question = "Analyze step by step: how far are 42 km, and what is a parsec?";
const calls = [
  "[Thinking: Two conversions.]",
  formatTextCall("mcp_units_convert", { value: 42, from: "km", to: "mi" }),
  formatTextCall("mcp_units_convert", { value: 1, from: "parsec", to: "km" }),
].join("\n");

it("a question passes MCP server, loop, thinking, parsing, tools, MCP client, errors, state and logs, and returns with its trace (S4-12, S4-62, S4-65)", async () => {
  const data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
  const mcp = await startChildServers({ dataFolder: data });
  const model = scriptedModel([{ text: calls }, { text: "42 km are 26.0976 mi; a parsec I do not know." }]);
  const lines: string[] = [];
  const reasoningFile = join(data, "reasoning.log");
  const agent = await bridge({ model, mcp, web: false });
  const service = createBridgeService({ agent, mcp, reasoningFile, debug: (line) => lines.push(line) });
  try {
    const answered = await queryService(service.fetch, question);
    // Integration: the answer comes back over MCP, with the calls, their arguments and the reasoning.
    expect(answered).toMatchObject({
      answer: "42 km are 26.0976 mi; a parsec I do not know.",
      status: "done",
      turns: 2,
      tools: [
        { name: "mcp_units_convert", arguments: { value: 42, from: "km", to: "mi" }, status: "ok" },
        { name: "mcp_units_convert", arguments: { value: 1, from: "parsec", to: "km" }, status: "error" },
      ],
      reasoning: [{ turn: 1, text: "Two conversions." }],
    });
    // Thinking: the question asks for it. Loop: the second turn uses the results of the first.
    expect(model.requests.map(({ thinking }) => thinking)).toEqual([true, true]);
    expect(JSON.stringify(model.requests[1]?.history)).toContain("STATUS: success");
    // Parsing, tools and MCP client: text became calls, and a child process answered them.
    expect(lines.join("")).toContain("42 km = 26.0976 mi");
    // Errors: the failure is named and sent to the model.
    expect(JSON.stringify(model.requests[1]?.history)).toContain("STATUS: error");
    // Logs: readable turns, and reasoning in a separate file.
    expect(lines.join("")).toContain("Turn 1/10");
    expect(readFileSync(reasoningFile, "utf8")).toContain("Two conversions.");
    expect(lines.join("")).not.toContain("Two conversions.");
  } finally {
    await service.close();
    await mcp.close();
    rmSync(data, { recursive: true });
  }
});

/** Queries with the official client, whose requests go directly to the service. */
async function queryService(
  send: (request: Request) => Promise<Response>,
  prompt: string,
): Promise<{ readonly [field: string]: unknown }> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), {
    fetch: (url, init) => send(new Request(url, init)),
  });
  await client.connect(transport);
  const { structuredContent } = await client.callTool({ name: "query", arguments: { prompt } });
  await client.close();
  return structuredContent as { readonly [field: string]: unknown };
}

// Test MCP server over stdio: `changing-mcp-server.ts <JSON file with its tools>`. Reads the file on every request.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const read = () => JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

const answers: Readonly<Record<string, (params: { protocolVersion?: string; name?: string }) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  "tools/list": () => ({ tools: read() }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `${name} was called` }] }),
};

process.stderr.write("notes are open\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}

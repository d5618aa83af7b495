// An agent that uses an MCP server, a child process with a memory. A second server fails to start.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mcpTools } from "@capstan/mcp";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const folder = mkdtempSync(join(tmpdir(), "capstan-mcp-"));
const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"));

const mcp = await mcpTools({
  mcpServers: {
    memory: {
      command: process.execPath,
      args: [program],
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
      // By default every tool of a server counts as one with side effects. These two only read.
      tools: { search_nodes: { effects: "none" }, read_graph: { effects: "none" } },
    },
    calendar: { command: "no-such-program" },
  },
  trustFile: join(folder, "trusted-tools.json"),
});
for (const { name, state, tools, error } of mcp.status())
  console.log(`${name}: ${state}, ${tools.length} tools ${error?.message ?? ""}`.trimEnd());

const entities = [{ name: "Ada", entityType: "person", observations: ["prefers trains"] }];
const model = scriptedModel([
  { calls: [{ name: "mcp_memory_create_entities", input: { entities } }] },
  { calls: [{ name: "mcp_memory_search_nodes", input: { query: "trains" } }] },
  { calls: [{ name: "mcp_memory_delete_entities", input: { entityNames: ["Ada"] } }] },
  { text: "Noted: Ada prefers trains." },
]);
// A function, so that added and removed tools reach the agent between turns.
const agent = defineAgent({ name: "assistant", model, tools: () => mcp.tools });

const running = run(agent, "Ada prefers trains. Remember that.");
const asked = await running;
for (const { callId, name, reason } of asked.pending) {
  console.log(`May I call ${name}? ${reason}`);
  running.deny(callId, "nothing was to be deleted.");
}
const result = await running;
console.log(result.toolCalls.map(({ name, status }) => `${name}: ${status}`).join("\n"));
console.log(result.text);

await mcp.close();
rmSync(folder, { recursive: true });

// Test MCP server over stdio with an MCP App: `app-server.ts <folder>`. The page is `page.html` of the folder, and
// `resource.json` replaces fields of the resource. Every call of a tool is a line of `calls.log`.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const folder = process.argv[2] ?? ".";
const uri = "ui://counter/page.html";
let count = 0;

const server = new McpServer(
  { name: "counter", version: "1" },
  { capabilities: { tools: { listChanged: false }, resources: { listChanged: false } } },
);

function addTool(name: string, ui: object, describe: () => string): void {
  const inputSchema = fromJsonSchema<{ readonly by?: number }>({
    type: "object",
    properties: { by: { type: "number" } },
  });
  const config = { description: `The tool ${name}.`, inputSchema, _meta: { ui } };
  server.registerTool(name, config, ({ by = 0 }) => {
    count += by;
    appendFileSync(join(folder, "calls.log"), `${name} ${by}\n`);
    return {
      content: [{ type: "text", text: describe() }],
      structuredContent: { count },
      _meta: { forTheApp: "not for the model" },
    };
  });
}

addTool("show_counter", { resourceUri: uri }, () => `The counter shows ${count}.`);
addTool("add", { visibility: ["app"] }, () => `Now ${count}.`);
addTool("peek", { resourceUri: uri, visibility: ["model", "app"] }, () => `It is ${count}.`);
addTool("reset", { visibility: ["model"] }, () => "Reset.");

server.registerResource("page", uri, { mimeType: "text/html;profile=mcp-app" }, () => {
  const file = join(folder, "resource.json");
  const replaced = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const text = readFileSync(join(folder, "page.html"), "utf8");
  return { contents: [{ uri, mimeType: "text/html;profile=mcp-app", text, ...replaced }] };
});

await server.connect(new StdioServerTransport());

// A tool of an MCP server with a user interface. A click in it becomes a call that the user has to approve.
import { mcpHandler, mcpTools } from "@capstan/mcp";
import { createServer } from "@capstan/server";
import { serve } from "@hono/node-server";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { defineAgent } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

// An MCP server as others write it. `set_lamp` is for its app alone: models do not get it.
const uri = "ui://lamp/switch.html";
const html = "<!doctype html><button>Switch</button>"; // a page that uses @modelcontextprotocol/ext-apps
const inputSchema = fromJsonSchema<{ readonly on?: boolean }>({ type: "object" });
let isOn = false;
const lamp = mcpHandler(() => {
  const server = new McpServer({ name: "lamp", version: "1.0.0" });
  server.registerTool("show_lamp", { inputSchema, _meta: { ui: { resourceUri: uri } } }, () => ({
    content: [{ type: "text", text: isOn ? "The lamp is on." : "The lamp is off." }],
  }));
  server.registerTool(
    "set_lamp",
    { inputSchema, _meta: { ui: { visibility: ["app"] } } },
    ({ on = false }) => {
      isOn = on;
      return { content: [{ type: "text", text: `Switched ${on ? "on" : "off"}.` }] };
    },
  );
  const mimeType = "text/html;profile=mcp-app";
  server.registerResource("switch", uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text: html }] }));
  return server;
});
const listening = Promise.withResolvers<{ port: number }>();
const listener = serve(
  { port: 0, hostname: "127.0.0.1", fetch: (request) => lamp.fetch(request) },
  listening.resolve,
);
const { port } = await listening.promise;

const mcp = await mcpTools({ mcpServers: { lamp: { url: `http://127.0.0.1:${port}/mcp` } } });
const model = scriptedModel([{ calls: [{ name: "mcp_lamp_show_lamp" }] }, { text: "Here is the switch." }]);
const agent = defineAgent({ name: "home", model, tools: () => mcp.tools });
const store = memory();
const server = createServer({ agents: [agent], store, mcp });
console.log(`for the model: ${mcp.tools.map(({ name }) => name).join(", ")}`);

async function send(method: string, path: string, body?: object) {
  const headers = { "content-type": "application/json" };
  const url = `http://127.0.0.1${path}`;
  return server.fetch(new Request(url, { method, headers, ...(body && { body: JSON.stringify(body) }) }));
}
async function waitForRun(runId: string) {
  for (;;) {
    const run = await (await send("GET", `/api/runs/${runId}`)).json();
    if (run.state === "ended" || run.state === "waiting") return run.result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// The studio does the rest by itself: it shows the page in a frame and passes its messages on.
const { runId, sessionId } = await (
  await send("POST", "/api/runs", { input: "Where is the switch?" })
).json();
await waitForRun(runId);
const call = (await store.read(sessionId, 0, 100)).find(({ type }) => type === "tool_call_start");
const path = `/api/sessions/${sessionId}/apps/${call?.seq}`;
const { app } = await (await send("GET", path)).json();
const page = await send("GET", `${path}/page?digest=${app.digest}`);
console.log(`page of ${app.server}: ${await page.text()}`);
console.log(page.headers.get("content-security-policy")?.split("; ").at(-1));

const click = await (
  await send("POST", `${path}/calls`, { tool: "set_lamp", arguments: { on: true } })
).json();
const { pending } = await waitForRun(click.runId);
console.log(`lamp on: ${isOn}. ${pending[0].reason.split(". ")[0]}.`);
await send("POST", `/api/runs/${click.runId}/approvals/${pending[0].callId}`, { approved: true });
await waitForRun(click.runId);
console.log(`lamp on: ${isOn}`);

await server.close();
await mcp.close();
await lamp.close();
listener.close();

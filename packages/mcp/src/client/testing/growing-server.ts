// A server made with the official SDK. Its tool `grow` adds the tool `paint`; `listings` returns how often the tools
// were listed.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const inputSchema = fromJsonSchema({ type: "object", properties: {} });
const reply = (text: string) => ({ content: [{ type: "text" as const, text }] });

let listings = 0;
process.stdin.on("data", (data) => {
  listings += String(data).split('"tools/list"').length - 1;
});

serveStdio(() => {
  const server = new McpServer({ name: "growing", version: "1.0.0" });
  const add = (name: string, run: () => string) =>
    server.registerTool(name, { description: `Runs ${name}.`, inputSchema }, () => reply(run()));
  add("grow", () => {
    add("paint", () => "Painted.");
    return "Grown.";
  });
  add("listings", () => String(listings));
  return server;
});

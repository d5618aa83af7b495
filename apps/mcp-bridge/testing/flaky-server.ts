// A child server whose tool fails the number of times given as its argument, then works.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

let failures = Number(process.argv[2]);
const inputSchema = fromJsonSchema({ type: "object", properties: {} });

serveStdio(() => {
  const server = new McpServer({ name: "flaky", version: "1.0.0" });
  server.registerTool("tide", { description: "Returns the tide.", inputSchema }, () => {
    const isError = failures-- > 0;
    return {
      content: [{ type: "text", text: isError ? "The gauge is stuck." : "High water at 06:12." }],
      isError,
    };
  });
  return server;
});

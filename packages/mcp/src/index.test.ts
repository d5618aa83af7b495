import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const program = `
import { registerHooks } from "node:module";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
let count = 0;
registerHooks({
  load(url, context, next) {
    if (url.includes("/@modelcontextprotocol/")) count += 1;
    return next(url, context);
  },
});
const { mcpTools, serveMcp, callbackRedirect } = await import("@capstan/mcp");
const mcp = await mcpTools({ mcpServers: {} });
callbackRedirect({ hint: "sign in" });
const agent = defineAgent({ name: "guide", model: scriptedModel([{ text: "Hi." }]) });
const service = serveMcp({ agents: [agent] });
const counts = [count];
const request = { jsonrpc: "2.0", id: 1, method: "ping" };
const headers = { "content-type": "application/json", host: "127.0.0.1" };
await service.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: JSON.stringify(request) }));
counts.push(count);
await service.close();
await mcp.close();
console.log(JSON.stringify(counts));
`;

it("the SDK is loaded with the first request, not with the package", () => {
  const options = ["--conditions=capstan-source", "--input-type=module", "-e", program];
  const output = execFileSync(process.execPath, options, { cwd: import.meta.dirname, encoding: "utf8" });
  const [before, after] = JSON.parse(output);
  expect(before).toBe(0);
  expect(after).toBeGreaterThan(0);
});

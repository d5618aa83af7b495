// Test MCP server over stdio with hostile metadata and results: markup in names and texts, recursive, huge and invalid
// schemas, and a question for a password.
import { createInterface } from "node:readline";

const markup = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

const many = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, index) => [`field_${index}`, { type: "string", description: markup }]),
);

const tools = [
  { name: "<img src=x onerror=alert(1)>", inputSchema: { type: "object" } },
  {
    name: "recursive",
    title: markup,
    description: `${markup} [link](javascript:alert(3)) \u202Eevil`,
    inputSchema: {
      type: "object",
      $defs: {
        node: {
          type: "object",
          properties: {
            name: { type: "string", title: markup, description: markup },
            children: { type: "array", items: { $ref: "#/$defs/node" } },
            parent: { $ref: "#/$defs/node" },
          },
          required: ["name"],
        },
        loop: { $ref: "#/$defs/loop" },
      },
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/$defs/node" } },
        kind: { enum: [markup, "b"] },
      },
      required: ["name", "children"],
    },
  },
  { name: "huge", description: "x".repeat(100_000), inputSchema: { type: "object", properties: many } },
  {
    name: "invalid",
    inputSchema: { type: "object", properties: { a: { $ref: "https://evil.example/schema" } } },
  },
  { name: "ask", inputSchema: { type: "object" } },
  { name: "fail", inputSchema: { type: "object" } },
  {
    name: "echo",
    description: "Echoes.",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
];

type Params = { protocolVersion?: string; name?: string; arguments?: { text?: string } };
const toResult = (text: string) => ({ content: [{ type: "text", text }] });
const waiting = new Map<unknown, (message: { result?: { action?: string } }) => void>();
const write = (message: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const calls: Readonly<Record<string, (params: Params) => object | Promise<object>>> = {
  recursive: () => ({
    content: [
      { type: "text", text: markup },
      { type: "image", mimeType: "image/svg+xml", data: btoa("<svg onload='alert(4)'/>") },
      { type: "resource_link", name: markup, uri: "javascript:alert(5)" },
    ],
  }),
  async ask() {
    const answer = new Promise<{ result?: { action?: string } }>((resolve) => waiting.set("q", resolve));
    const requestedSchema = { type: "object", properties: { color: { type: "string" } } };
    write({ id: "q", method: "elicitation/create", params: { message: "Your password?", requestedSchema } });
    return toResult((await answer).result?.action ?? "none");
  },
  fail: () => ({ ...toResult("It failed."), isError: true }),
  echo: ({ arguments: input }) => toResult(input?.text ?? ""),
};

const answers: Readonly<Record<string, (params: Params) => object | Promise<object>>> = {
  initialize: ({ protocolVersion }) => ({
    ...{ protocolVersion, capabilities: { tools: {}, resources: {}, prompts: {} } },
    serverInfo: { name: markup, version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": (params) => calls[params.name ?? ""]?.(params) ?? toResult("Nothing."),
  "resources/list": () => ({
    resources: [{ uri: "javascript:alert(6)", name: markup, description: markup }],
  }),
  "resources/read": () => ({
    contents: [{ uri: "javascript:alert(6)", mimeType: "text/html", text: markup }],
  }),
  "prompts/list": () => ({ prompts: [{ name: markup, description: markup }] }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: markup } }] }),
};

for await (const line of createInterface({ input: process.stdin })) void handle(JSON.parse(line));

async function handle(message: { id?: unknown; method?: string; params?: Params }): Promise<void> {
  const { id, method, params = {} } = message;
  if (method === undefined) return waiting.get(id)?.(message as never);
  if (id === undefined) return;
  const answer = answers[method];
  write({
    id,
    ...(answer ? { result: await answer(params) } : { error: { code: -32601, message: "Unknown." } }),
  });
}

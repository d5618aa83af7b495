// MCP over stdio without the SDK, so that the test servers can violate the protocol.
import { createInterface } from "node:readline";

export type Params = { readonly [key: string]: unknown };

/** Returns the result of a request. Undefined sends no response; a thrown error is sent as an error. */
export type Handler = (params: Params, id: unknown) => unknown;

/** Handlers by method. Notifications are handled too. */
export type Handlers = { readonly [method: string]: Handler };

/** Writes a message, or a raw line, to stdout. */
export function send(message: unknown): void {
  process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
}

/** Defines a tool that accepts any input. */
export function defineRawTool(name: string, more: object = {}): object {
  return { name, description: `Tool ${name}.`, inputSchema: { type: "object" }, ...more };
}

export function toTextResult(text: string): object {
  return { content: [{ type: "text", text }] };
}

let requestCount = 0;
const pendingRequests = new Map<unknown, (answer: Params) => void>();

/** Sends a request to the client, as in the 2025 revisions, and resolves with the whole response. */
export function sendRawRequest(method: string, params: object): Promise<Params> {
  const id = `ask-${++requestCount}`;
  send({ jsonrpc: "2.0", id, method, params });
  return new Promise((resolve) => pendingRequests.set(id, resolve));
}

const capabilities = { tools: { listChanged: true } };

/** Handshake result of the 2025 revisions. */
export function createInitializeResult(name: string, more: object = {}): object {
  return { protocolVersion: "2025-11-25", capabilities, serverInfo: { name, version: "1" }, ...more };
}

/** Discovery result of 2026-07-28. */
export function createDiscoverResult(name: string): object {
  const _meta = { "io.modelcontextprotocol/serverInfo": { name, version: "1" } };
  return { ...completeFields, supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, _meta };
}

/** Fields of every result in 2026-07-28. */
export const completeFields = { resultType: "complete", ttlMs: 0, cacheScope: "private" } as const;

/** Serves stdin until it ends. Methods without a handler get an error. */
export function serveStdio(name: string, handlers: Handlers): void {
  const known: Handlers = { initialize: () => createInitializeResult(name), ping: () => ({}), ...handlers };
  createInterface({ input: process.stdin })
    .on("line", (line) => void handleMessage(known, JSON.parse(line)))
    .on("close", () => process.exit(0));
}

async function handleMessage(handlers: Handlers, message: Params): Promise<void> {
  const { id, method, params = {} } = message as { id?: unknown; method?: string; params?: Params };
  if (method === undefined) return pendingRequests.get(id)?.(message);
  try {
    const handler = handlers[method];
    if (!handler) throw Object.assign(new Error(`Unknown method ${method}.`), { code: -32601 });
    const result = await handler(params, id);
    if (id !== undefined && result !== undefined) send({ jsonrpc: "2.0", id, result });
  } catch (thrown) {
    const { code = -32603, message: problem } = thrown as Error & { code?: number };
    if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code, message: problem } });
  }
}

// MCP over stdio by hand, without the SDK, so that it can also be spoken badly. The servers of the tests stand on it.
import { createInterface } from "node:readline";

export type Params = { readonly [key: string]: unknown };

/** What a request is answered with; undefined is silence, a throw an error. */
export type Handler = (params: Params, id: unknown) => unknown;

/** Answers by method. Messages without an id are handled too, and never answered. */
export type Handlers = { readonly [method: string]: Handler };

/** Writes a line to stdout: a message, or whatever a text is. */
export function send(message: unknown): void {
  process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
}

/** A definition that takes anything. */
export function toolNamed(name: string, more: object = {}): object {
  return { name, description: `Tool ${name}.`, inputSchema: { type: "object" }, ...more };
}

export function text(said: string): object {
  return { content: [{ type: "text", text: said }] };
}

let asked = 0;
const open = new Map<unknown, (answer: Params) => void>();

/** Asks the client something, as servers of 2025 do. Resolves with its whole answer. */
export function ask(method: string, params: object): Promise<Params> {
  const id = `ask-${++asked}`;
  send({ jsonrpc: "2.0", id, method, params });
  return new Promise((resolve) => open.set(id, resolve));
}

const capabilities = { tools: { listChanged: true } };

/** How a server of 2025 begins. */
export function initialized(name: string, more: object = {}): object {
  return { protocolVersion: "2025-11-25", capabilities, serverInfo: { name, version: "1" }, ...more };
}

/** How a server of 2026 says what it is. */
export function discovered(name: string): object {
  const _meta = { "io.modelcontextprotocol/serverInfo": { name, version: "1" } };
  return { ...complete, supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, _meta };
}

/** What every result of 2026 carries, and lists beside it. */
export const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" } as const;

/** Answers what comes on stdin until it ends. A method without a handler is not known. */
export function serve(name: string, handlers: Handlers): void {
  const known: Handlers = { initialize: () => initialized(name), ping: () => ({}), ...handlers };
  createInterface({ input: process.stdin })
    .on("line", (line) => void hear(known, JSON.parse(line)))
    .on("close", () => process.exit(0));
}

async function hear(handlers: Handlers, message: Params): Promise<void> {
  const { id, method, params = {} } = message as { id?: unknown; method?: string; params?: Params };
  if (method === undefined) return open.get(id)?.(message);
  try {
    const handler = handlers[method];
    if (!handler) throw Object.assign(new Error(`There is no ${method}.`), { code: -32601 });
    const result = await handler(params, id);
    if (id !== undefined && result !== undefined) send({ jsonrpc: "2.0", id, result });
  } catch (thrown) {
    const { code = -32603, message: problem } = thrown as Error & { code?: number };
    if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code, message: problem } });
  }
}

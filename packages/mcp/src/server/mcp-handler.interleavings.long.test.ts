import { McpServer } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { expect, it } from "vitest";
import { mcpHandler } from "./mcp-handler.ts";

const legacyVersion = "2025-11-25";
const accept = "application/json, text/event-stream";
const clients = ["ann", "bob"];

type Message = { readonly method: string; readonly params: Record<string, unknown> };
type Client = { readonly user: string; readonly session?: string };

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function createRequest({ method, params }: Message, id: number, session: string | undefined): Request {
  const isModern = "_meta" in params;
  return new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept,
      ...(session && { "mcp-session-id": session, "mcp-protocol-version": legacyVersion }),
      ...(isModern && { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": "whoami" }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
  });
}

it.each([
  "modern",
  "legacy",
] as const)("in fifty thousand interleavings of clients with equal ids no answer reaches another (A60, %s)", async (era) => {
  let turn: (user: string) => Promise<unknown> = async () => undefined;
  const handler = mcpHandler(({ user = "nobody" }) => {
    const server = new McpServer({ name: "marked", version: "1" });
    server.registerTool("whoami", { description: "Says who asks, in its turn." }, async () => {
      await turn(user);
      return { content: [{ type: "text", text: `I am ${user}.` }] };
    });
    return server;
  });
  const params = { name: "whoami", arguments: {}, ...(era === "modern" && { _meta: envelope }) };
  const call = { method: "tools/call", params };
  const asking: Client[] = [];
  for (const user of clients) {
    if (era === "modern") {
      asking.push({ user });
      continue;
    }
    const opening = {
      protocolVersion: legacyVersion,
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    };
    const response = await handler.fetch(
      createRequest({ method: "initialize", params: opening }, 0, undefined),
      {
        user,
      },
    );
    await response.text();
    asking.push({ user, session: response.headers.get("mcp-session-id") ?? "" });
  }
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      turn = (user) => scheduler.schedule(Promise.resolve(), user);
      const answers = asking.flatMap(({ user, session }) =>
        [1, 2].map(async (id) => {
          const text = await (await handler.fetch(createRequest(call, id, session), { user })).text();
          return (
            text.includes(`I am ${user}.`) && text.match(/I am/g)?.length === 1 && text.includes(`"id":${id}`)
          );
        }),
      );
      const all = Promise.all(answers);
      await scheduler.waitFor(all);
      expect(await all).toEqual(answers.map(() => true));
    }),
    { numRuns: 50_000 },
  );
  await handler.close();
}, 1_800_000);

// An agent as an MCP server over HTTP, and the official client, which asks its user for approval.
import { readFile } from "node:fs/promises";
import { serveMcp } from "@capstan/mcp";
import { widgetPage } from "@capstan/studio";
import { serve } from "@hono/node-server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { defineAgent, defineTool, type ToolContext } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const send = defineTool({
  name: "send_invoice",
  description: "Sends an invoice",
  input: z.object({ to: z.string(), euros: z.number() }),
  effects: "send",
  needsApproval: true,
  execute: ({ to }, { context }: ToolContext<{ user?: string }>) =>
    `sent to ${to} in the name of ${context.user}`,
});
const model = scriptedModel([
  { calls: [{ name: "send_invoice", input: { to: "Grace", euros: 120 } }] },
  { text: "The invoice is on its way." },
  { text: "It was for Grace." },
]);
const office = defineAgent({ name: "office", model, tools: [send] });

const guides = [{ id: "1", title: "Invoices", url: "https://example.org/1", text: "Payable in 14 days." }];
const widgets = await readFile(widgetPage, "utf8").catch(() => undefined); // missing if the studio is not built
const service = serveMcp({
  agents: [office],
  widgets,
  knowledge: {
    search: (query) => guides.filter(({ text }) => text.includes(query)),
    fetch: (id) => guides.find((guide) => guide.id === id),
  },
});

// The host identifies the user: here every request is from Ada.
const listening = Promise.withResolvers<{ port: number }>();
const listener = serve(
  { port: 0, hostname: "127.0.0.1", fetch: (request) => service.fetch(request, { user: "ada" }) },
  listening.resolve,
);
const { port } = await listening.promise;

const client = new Client(
  { name: "desk", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler("elicitation/create", ({ params }) => {
  console.log(`asked: ${params.message.replace("\n", " ")}`);
  return { action: "accept", content: { approve: true } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
console.log((await client.listTools()).tools.map(({ name }) => name).join(", "));

const reply = z.object({ answer: z.string(), status: z.string(), turns: z.number(), session: z.string() });
const first = await client.callTool({ name: "query", arguments: { prompt: "Bill Grace 120 euros." } });
const { answer, status, turns, session } = reply.parse(first.structuredContent);
console.log(`${status} after ${turns} turns: ${answer}`);

const next = { prompt: "For whom was it?", sessionId: session };
const second = await client.callTool({ name: "query", arguments: next });
console.log(reply.parse(second.structuredContent).answer);

await client.close();
await service.close();
listener.close();

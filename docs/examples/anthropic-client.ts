// The Anthropic SDK as a client of an agent: the agent's own tool runs on the server, the client's tool here.
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { createServer, listen } from "@capstan/server";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const tide = defineTool({
  name: "tide",
  description: "High water at a harbor",
  input: z.object({ harbor: z.string() }),
  effects: "none",
  execute: ({ harbor }) => `High water at ${harbor} is at 6:40.`,
});
const model = scriptedModel([
  { calls: [{ name: "tide", input: { harbor: "Bergen" } }] },
  { calls: [{ name: "calendar", input: { day: "Friday" } }] },
  { text: "Sail on Friday at 6:40." },
]);
const listening = await listen(
  createServer({ agents: [defineAgent({ name: "pilot", model, tools: [tide] })] }),
  { port: 0 },
);

const client = new Anthropic({ baseURL: listening.url, apiKey: "none" }); // the server's key, once it has one
const calendar = betaZodTool({
  name: "calendar",
  description: "Whether the user is free on a day",
  inputSchema: z.object({ day: z.string() }),
  run: ({ day }) => `Free on ${day}.`,
});
const runner = client.beta.messages.toolRunner({
  model: "pilot", // an agent
  max_tokens: 1000,
  messages: [{ role: "user", content: "When can we sail from Bergen?" }],
  tools: [calendar],
  stream: true,
});
for await (const stream of runner)
  for await (const event of stream)
    if (event.type === "content_block_delta" && event.delta.type === "text_delta")
      console.log(event.delta.text);
await listening.close(0);

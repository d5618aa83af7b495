import assert from "node:assert/strict";
import { test } from "node:test";
import { createServer } from "@capstan/server";
import { defineAgent } from "capstan";
import { createClient } from "capstan/client";
import { scriptedModel } from "capstan/testing";
import { support } from "./agent.ts";

test("a client asks about an order and gets an answer", async () => {
  // A scripted model: no key, no network, deterministic.
  const model = scriptedModel([
    { calls: [{ name: "find_order", input: { number: "A17" } }] },
    { text: "Your desk lamp arrives on 18 November." },
  ]);
  const agent = defineAgent({ name: "support", model, tools: [...support.tools.values()] });
  const server = createServer({ agents: [agent] });
  const client = createClient({
    baseURL: "http://localhost",
    fetch: (input, init) => server.fetch(new Request(input, init)),
  });
  const { runId } = await client.runs.start({ input: "Where is order A17?" });
  for await (const event of client.runs.events(runId))
    if (event.type === "tool_call_result") assert.match(String(event.result), /on its way/);
  const { result } = await client.runs.get(runId);
  assert.equal(result?.text, "Your desk lamp arrives on 18 November.");
  await server.close();
});

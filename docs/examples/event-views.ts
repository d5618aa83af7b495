// The events of a run in an application's own vocabulary, for a page that counts steps.
import { createServer, type EventView, listen } from "@capstan/server";
import { defineAgent, defineTool } from "capstan";
import { createClient } from "capstan/client";
import { scriptedModel } from "capstan/testing";

/** `step {number, tool}` for each tool call, `finished {steps}` at the end. */
const steps: EventView = {
  description: "The steps of an order",
  create() {
    let count = 0;
    return (event) => {
      if (event.parentRunId !== undefined) return [];
      if (event.type === "tool_call_start")
        return [{ event: "step", data: { number: ++count, tool: event.name } }];
      return event.type === "done" ? [{ event: "finished", data: { steps: count } }] : [];
    };
  },
};

const bake = defineTool({ name: "bake", description: "Bakes a cake.", input: {}, execute: () => "Baked." });
const deliver = defineTool({
  name: "deliver",
  description: "Delivers.",
  input: {},
  execute: () => "On its way.",
});
const model = scriptedModel([
  { calls: [{ name: "bake" }] },
  { calls: [{ name: "deliver" }] },
  { text: "Your cake is on its way." },
]);
const agents = [defineAgent({ name: "bakery", model, tools: [bake, deliver] })];

const server = await listen(createServer({ agents, eventViews: { steps } }), { port: 0 });

const client = createClient({ baseURL: server.url });
const { runId } = await client.runs.start({ input: "A cake, please." });
for await (const { event, data, id } of client.runs.viewEvents(runId, "steps"))
  console.log(id, event, JSON.stringify(data));
await server.close();

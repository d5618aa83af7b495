import { defineAgent, defineTool, run, type ToolContext } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const track = defineTool({
  name: "track",
  description: "Finds a parcel",
  input: z.object({ parcel: z.string() }),
  effects: "none",
  // The annotation says what the tool needs of a run's context.
  execute: ({ parcel }, { context }: ToolContext<{ places: ReadonlyMap<string, string> }>) =>
    context.places.get(parcel) ?? "It is lost.",
});

const agent = defineAgent({
  name: "post",
  model: scriptedModel([
    { calls: [{ name: "track", input: { parcel: "P1" } }] },
    { text: '{"parcel": "P1", "days": 2}' },
  ]),
  tools: [track],
  context: z.object({ user: z.string(), places: z.map(z.string(), z.string()) }),
  instructions: ({ context }) => `You answer ${context.user}.`,
  output: z.object({ parcel: z.string(), days: z.number() }),
});

// Without `context` this is a type error.
const running = run(agent, "When does P1 arrive?", {
  context: { user: "Ada", places: new Map([["P1", "In Oslo, on its way."]]) },
});
for await (const event of running)
  if (event.type === "tool_call_start" && event.name === "track")
    console.log(`looking for ${event.arguments.parcel}`);

const result = await running;
if (result.status === "done") console.log(`${result.output.parcel}: ${result.output.days} days`);

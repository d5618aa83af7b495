import { agentTool, defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const french = defineAgent({
  name: "french",
  model: scriptedModel([{ text: "Bonjour" }]),
  instructions: "You translate into French. Say nothing else.",
});

const teacher = defineAgent({
  name: "teacher",
  model: scriptedModel([
    { calls: [{ name: "french", input: { prompt: "Good morning" } }] },
    { text: "They say: Bonjour." },
  ]),
  tools: [agentTool(french, { description: "Translates into French" })],
});

for await (const event of run(teacher, "How do they greet each other in Nice?")) {
  const depth = event.parentRunId === undefined ? "" : "  ";
  if (event.type === "turn_start") console.log(`${depth}${event.agent}, turn ${event.turn}`);
  if (event.type === "done") console.log(`${depth}${event.agent}: ${event.text}`);
}

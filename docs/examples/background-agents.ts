import { agentTool, defineAgent, defineTool, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const survey = Promise.withResolvers<string>();

const research = defineAgent({
  name: "research",
  model: scriptedModel([
    { text: "I ask the survey office.", calls: [{ name: "survey_office", input: { place: "North" } }] },
    { text: "The survey office says: solid rock." },
  ]),
  tools: [
    defineTool({
      name: "survey_office",
      description: "Asks the survey office, which takes its time",
      input: z.object({ place: z.string() }),
      effects: "none",
      reads: ["public"],
      execute: () => survey.promise,
    }),
  ],
});

const planner = defineAgent({
  name: "planner",
  model: scriptedModel([
    { calls: [{ name: "research", input: { prompt: "What is the ground in the North made of?" } }] },
    { text: "I am having it looked up. Ask me anything meanwhile." },
    { text: "A tunnel costs about 40 million per kilometer." },
    { text: "The ground is solid rock, so a tunnel is possible." },
  ]),
  // The call returns at once. The answer arrives as a message, and the run does not end before.
  tools: [agentTool(research, { background: true, timeoutMs: 600_000 })],
});

const planning = run(planner, "Can we build a tunnel in the North?");
for await (const event of planning) {
  if (event.type !== "message" || event.parentRunId !== undefined) continue;
  const text = event.entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (text !== "") console.log(`planner: ${text}`);
  if (event.turn === 2) planning.steer("What does a tunnel cost?"); // the planner waits, and still answers
  if (event.turn === 3) survey.resolve("solid rock");
}

const { status, turns, usage } = await planning;
console.log(`${status} after ${turns} turns, ${usage.inputTokens + usage.outputTokens} tokens by both`);

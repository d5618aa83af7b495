import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const trip = z.object({ city: z.string(), days: z.number().int().positive() });

// The first answer does not match the schema; the model is told why and answers again.
const model = scriptedModel([{ text: "Oslo, for three days." }, { text: '{"city": "Oslo", "days": 3}' }]);

const agent = defineAgent({ name: "planner", model, instructions: "Plan a trip.", output: trip });
const result = await run(agent, "Where should I go?");

console.log(result.output);
console.log(model.requests[1]?.instructions.split("\n").at(-1));

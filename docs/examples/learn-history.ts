import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([{ text: "Noted: Ada." }, { text: "Ada." }, { text: "I cannot know." }]);
const agent = defineAgent({ name: "host", model });

await run(agent, "My name is Ada.", { session: "visit" });
await run(agent, "What is my name?", { session: "visit" });
await run(agent, "What is my name?", { session: "another" });

// The history in each request to the model.
for (const { history } of model.requests) console.log(history.map(({ type }) => type).join(", "));

import { defineAgent, defineTool, resume, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const free = ["3A", "7C"];

const book = defineTool({
  name: "book",
  description: "Books a seat in a train",
  input: z.object({ train: z.string() }),
  effects: "state",
  execute({ train }, { answers }) {
    const [answer] = answers;
    const schema = { type: "object", properties: { seat: { enum: free } }, required: ["seat"] };
    // No result yet: the user is asked, and the tool runs again for the same call with the answer.
    if (!answer) return { ask: { message: `Which seat in ${train}?`, schema } };
    if (!answer.approved) return { error: `The user declined: ${answer.reason}` };
    return `Booked: ${JSON.stringify(answer.value)} in ${train}.`;
  },
});

const model = scriptedModel(({ history }) =>
  history.length === 1
    ? { calls: [{ id: "c1", name: "book", input: { train: "R 12" } }] }
    : { text: "You have a seat." },
);

const agent = defineAgent({ name: "traveller", model, tools: [book] });
const store = memory();
const { runId, pending } = await run(agent, "Get me a seat.", { store });
for (const { reason, question } of pending) console.log(reason, JSON.stringify(question?.schema));

// The question is stored, so another process can answer it later.
const resumed = resume(agent, { store, runId });
await resumed.approve("c1", { seat: "1A" }).then(undefined, (error) => console.log(error.code));
const result = await resumed.approve("c1", { seat: "7C" });
console.log(result.toolCalls[0]?.result);

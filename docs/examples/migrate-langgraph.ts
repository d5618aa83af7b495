// From LangGraph.js: a thread with a checkpointer, an interrupt in the middle of a call, and time travel.
import { defineAgent, defineTool, resume, run } from "capstan";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const book = defineTool({
  name: "book",
  description: "Books a table",
  input: z.object({ guests: z.number().int() }),
  effects: "state",
  execute({ guests }, { answers }) {
    const [answer] = answers;
    // Was `interrupt({ … })`. As there, the tool runs again from the start, so ask before you act.
    if (!answer) return { ask: { message: `Inside or outside, for ${guests}?` } };
    return answer.approved ? `A table ${answer.value}, for ${guests}.` : { error: "The user declined." };
  },
});

const agent = defineAgent({
  name: "waiter", // was `createAgent({ model, tools, systemPrompt, checkpointer })`
  model: scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: `Done: ${last.content}` };
    return { calls: [{ name: "book", input: { guests: 4 } }] };
  }),
  instructions: "Be kind.",
  tools: [book],
});

const store = memory(); // was the checkpointer
const thread = { store, session: "table-1" }; // was `configurable: { thread_id }`
const { runId, pending } = await run(agent, "A table for four, please.", thread);
console.log(pending[0]?.reason);

// Was `graph.invoke(new Command({ resume: "outside" }), config)`.
const result = await resume(agent, { store, runId }).approve(pending[0]?.callId ?? "", "outside");
console.log(result.text);

// Was `getStateHistory` and an older `checkpoint_id`: you can fork at every fact.
const facts = await session(store, "table-1").facts();
const fork = await session(store, "table-1").fork(3);
console.log(`${(await fork.facts()).length} of ${facts.length} facts are in the fork`);

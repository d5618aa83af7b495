// From Mastra: an agent with thread memory, a tool that needs approval, and a workflow around it.
import { defineAgent, defineTool, run } from "capstan";
import { local } from "capstan/engines/local";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const publish = defineTool({
  name: "publish", // was `id`
  description: "Publishes a post",
  input: z.object({ title: z.string() }), // was `inputSchema`
  effects: "send",
  needsApproval: "It will be seen by everybody.", // was `requireApproval: true`
  execute: ({ title }) => `"${title}" is out.`,
});

const editor = defineAgent({
  name: "editor",
  model: scriptedModel(({ history }) =>
    history.at(-1)?.type === "result"
      ? { text: "Your post is out." }
      : { calls: [{ name: "publish", input: { title: "Tides" } }] },
  ),
  tools: [publish],
});
const critic = defineAgent({ name: "critic", model: scriptedModel([{ text: "Shorter, please." }]) });

// A workflow is a program. Parts that must survive a crash are runs, which the engine stores.
const store = sqlite(":memory:"); // was `storage`
const engine = local({ store, agents: [editor] }); // was `createDurableAgent({ agent })`
const advice = await run(critic, "Is the post good?");
console.log(advice.text);

const posting = engine.run(editor, "Publish it.", { session: "ann~thread-1" }); // was `memory: { resource, thread }`
const asked = await posting;
console.log(asked.pending.map(({ reason }) => reason).join()); // was a `tool-call-approval` chunk

const result = await posting.approve(asked.pending[0]?.callId ?? ""); // was `approveToolCall({ runId, toolCallId })`
console.log(`${result.status}: ${result.text}`);
await engine.close();
await store.close();

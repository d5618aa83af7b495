// An agent behind HTTP and the typed client: a client-side tool, an approval, and a lost connection.
import { createServer, listen } from "@capstan/server";
import { defineAgent, defineTool, type ToolContext } from "capstan";
import { createClient, emptyView, reduce } from "capstan/client";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

// No `execute`: the client runs it. The run waits for the result, even across a server restart.
const location = defineTool({
  name: "location",
  description: "Where the user is",
  input: z.object({}),
  effects: "none",
});
const order = defineTool({
  name: "order_taxi",
  description: "Orders a taxi to a place",
  input: z.object({ to: z.string() }),
  effects: "send",
  needsApproval: true,
  // What the tool needs of the context: `createServer` checks that it is there.
  execute: ({ to }, { context }: ToolContext<{ user: string }>) =>
    `A taxi to ${to} is on its way, for ${context.user}.`,
});
const model = scriptedModel([
  { calls: [{ name: "location", input: {} }] },
  { calls: [{ name: "order_taxi", input: { to: "Quay 4" } }] },
  { text: "Your taxi comes to Quay 4." },
]);
const clerk = defineAgent({ name: "clerk", model, tools: [location, order] });

const server = createServer({ agents: [clerk] }); // `store: sqlite("capstan.db")` keeps everything
const ada = await server.keys.create({ user: "ada" }); // once there is a key, every request needs one
const listening = await listen(server, { port: 0 }); // 127.0.0.1, unless there is a key and you say otherwise

const client = createClient({ baseURL: listening.url, key: ada.secret });
const { runId } = await client.runs.start({ input: "I need a taxi." });
let view = emptyView;
for await (const event of client.runs.events(runId)) {
  view = reduce(view, event); // the state of a page
  if (event.type === "waiting")
    for (const { callId, name, needs, digest } of view.pending) {
      console.log(`${name} waits for ${needs}`);
      if (needs === "answer") await client.runs.answer(runId, callId, { place: "Quay 4" });
      else await client.runs.approve(runId, callId, { ...(digest && { digest }) });
    }
}
console.log(view.status);
const { result } = await client.runs.get(runId);
console.log(result?.text);

// OpenAI clients work with this server too: each agent is a model.
const completion = await fetch(`${listening.url}/v1/models`, {
  headers: { authorization: `Bearer ${ada.secret}` },
});
const { data }: { data: { id: string }[] } = await completion.json();
console.log(data.map(({ id }) => id).join(", "));
await listening.close(0);

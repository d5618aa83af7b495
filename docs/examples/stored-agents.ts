import { type AgentError, defineAgent, defineTool, run } from "capstan";
import { storedAgents } from "capstan/agents";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([
  { calls: [{ name: "search", input: { words: "leave" } }] },
  { text: "30 days." },
]);
const assistant = defineAgent({ name: "assistant", model });

const pages: { readonly [source: string]: string } = {
  handbook: "Leave: 30 days.",
  payroll: "Leave: 1,200 €.",
};

const agents = storedAgents({
  store: memory(), // any store will do: `sqlite("capstan.db")` keeps agents for tomorrow
  coded: [assistant],
  models: [model],
  sources: Object.keys(pages),
  tools: {
    // Made for each agent, so that it finds nothing outside the sources of that agent.
    search: ({ sources = [] }) =>
      defineTool({
        name: "search",
        description: "Finds pages with these words",
        input: { words: { type: "string" } },
        effects: "none",
        execute: () => sources.map((source) => pages[source]).join("\n"),
      }),
  },
  policyLimits: { maxTurns: 8, budget: { tokens: 20_000 } },
});

// What a form in a browser would send.
const clerk = {
  format: 1,
  name: "clerk",
  description: "You answer questions about work.",
  prompt: "Say which page you have it from.",
  tools: ["search"],
  sources: ["handbook"],
  handoffs: ["assistant"],
} as const;
const saved = await agents.save(clerk, 0);
console.log(`${saved.name}, version ${saved.version}`);

const result = await run(await agents.agent("clerk"), "How much leave do I have?");
console.log(`${result.text} (${result.toolCalls[0]?.result})`);

// What is wrong is said in words for whoever made it.
const mistakes = [
  { ...clerk, tools: ["serch"] },
  { ...clerk, policy: { gate: "off" } as const },
];
for (const mistake of mistakes)
  await agents.save(mistake, saved.version).catch(({ message }: AgentError) => console.log(message));

// Somebody who has seen version 1 cannot overwrite what was saved since.
await agents.save({ ...clerk, prompt: "Be brief." }, saved.version);
await agents
  .save({ ...clerk, prompt: "Be kind." }, saved.version)
  .catch(({ code }: AgentError) => console.log(code));

// To have it elsewhere: the data as JSON is the file.
await agents.importAgent(JSON.stringify({ ...clerk, name: "clerk from Bergen" }));
for (const { name, source } of await agents.list()) console.log(`${source.padEnd(8)} ${name}`);

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
  store: memory(), // any store works; `sqlite("capstan.db")` keeps agents across restarts
  coded: [assistant],
  models: [model],
  sources: Object.keys(pages),
  tools: {
    // Created for each agent, so that it searches only that agent's sources.
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

// The data a form in a browser would send.
const clerk = {
  format: 1,
  name: "clerk",
  description: "You answer questions about work.",
  prompt: "Name the page you found it on.",
  tools: ["search"],
  sources: ["handbook"],
  handoffs: ["assistant"],
} as const;
const saved = await agents.save(clerk, 0);
console.log(`${saved.name}, version ${saved.version}`);

const result = await run(await agents.agent("clerk"), "How much leave do I have?");
console.log(`${result.text} (${result.toolCalls[0]?.result})`);

// Errors are written for the author of the agent.
const mistakes = [
  { ...clerk, tools: ["serch"] },
  { ...clerk, policy: { gate: "off" } as const },
];
for (const mistake of mistakes)
  await agents.save(mistake, saved.version).catch(({ message }: AgentError) => console.log(message));

// A client that loaded version 1 cannot overwrite a newer version.
await agents.save({ ...clerk, prompt: "Be brief." }, saved.version);
await agents
  .save({ ...clerk, prompt: "Be kind." }, saved.version)
  .catch(({ code }: AgentError) => console.log(code));

// The JSON data is also the file format for export and import.
await agents.importAgent(JSON.stringify({ ...clerk, name: "clerk from Bergen" }));
for (const { name, source } of await agents.list()) console.log(`${source.padEnd(8)} ${name}`);

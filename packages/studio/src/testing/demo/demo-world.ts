import type { ServerOptions } from "@capstan/server";
import { type Agent, run, type Store } from "capstan";
import { storedAgents } from "capstan/agents";
import { defineEval, runEval, saveCases, saveDataset, scorers } from "capstan/evals";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { createDemoAgents } from "./demo-agents.ts";
import { createDemoMcp, demoServers } from "./demo-mcp.ts";
import { createDemoClock } from "./demo-model.ts";

/** Time of the demo. */
export const demoNow: number = Date.UTC(2026, 4, 12, 9, 41);

/** The demo's sessions, by the feature they show. */
export type DemoSession =
  | "map"
  | "approval"
  | "diff"
  | "graph"
  | "knowledge"
  | "table"
  | "chart"
  | "bars"
  | "limit";

/** Server options with scripted sessions. */
export type Demo = {
  readonly options: Omit<ServerOptions, "studio">;
  readonly ids: { readonly [Name in DemoSession]: string };
  /** Two runs of the same session, to compare. */
  readonly runs: readonly [string, string];
};

type DemoConversation = {
  readonly name: DemoSession;
  readonly agent: string;
  readonly ago: number;
  readonly messages: readonly string[];
};

const minute = 60_000;
const day = 24 * 60 * minute;

const demoConversations: readonly DemoConversation[] = [
  { name: "bars", agent: "airport", ago: 12 * day, messages: ["How many passengers came this year?"] },
  { name: "limit", agent: "archivist", ago: 4 * day, messages: ["Where is the treaty of 1911?"] },
  { name: "chart", agent: "airport", ago: 3 * day, messages: ["When is the line at the checkpoint short?"] },
  { name: "table", agent: "airport", ago: day + 30 * minute, messages: ["How late are departures today?"] },
  { name: "diff", agent: "files", ago: day, messages: ["Add a docstring to greet in example.py"] },
  { name: "graph", agent: "graph", ago: 95 * minute, messages: ["Find all cats and make them blue"] },
  {
    name: "knowledge",
    agent: "knowledge",
    ago: 52 * minute,
    messages: ["Compare how lru-cache and keyv expire entries"],
  },
  { name: "approval", agent: "files", ago: 16 * minute, messages: ["Give greet a docstring and types"] },
  {
    name: "map",
    agent: "airport",
    ago: 6 * minute,
    messages: ["Directions from the Terminal 2 checkpoint to D15", "Is there coffee near the gate?"],
  },
];

export const demoProfiles: NonNullable<ServerOptions["about"]> = {
  airport: {
    title: "Airport assistant",
    picture: "map",
    description: "Finds gates, cafés and the way there, at a fictional airport.",
    suggestions: [
      "Directions from the Terminal 2 checkpoint to D15",
      "How late are departures today?",
      "When is the line at the checkpoint short?",
    ],
  },
  files: {
    title: "Files chat",
    picture: "files",
    description: "Reads and changes the files of a folder, when you agree.",
    suggestions: ["Add a docstring to greet in example.py"],
  },
  graph: {
    title: "Graph explorer",
    picture: "graph",
    description: "Answers questions about a graph and draws it.",
  },
  knowledge: {
    title: "Knowledge search",
    picture: "sources",
    description: "Answers from documentation, with sources.",
  },
  archivist: { title: "Archivist", description: "Looks for old papers, three turns at most." },
};

/** Creates the sessions by running scripted agents. The result is deterministic. */
export async function createDemoWorld(): Promise<Demo> {
  const clock = createDemoClock(demoNow - 30 * day);
  const store = memory({ clock });
  const agents = createDemoAgents(clock);
  const ids: { [name: string]: string } = {};
  for (const conversation of demoConversations) {
    clock.set(demoNow - conversation.ago);
    const id = `ses_${conversation.name}`;
    ids[conversation.name] = id;
    await runConversation({ store, clock, agents }, { id, ...conversation });
  }
  await saveStoredAgent(store, agents);
  clock.set(demoNow - 2 * day);
  await runDemoEval({ store, clock, agents });
  const [first, second] = (await session(store, "ses_map").info()).runs.map(({ runId }) => runId);
  const options = {
    agents,
    store,
    about: demoProfiles,
    mcp: createDemoMcp(demoServers),
    models: ["anthropic/claude-sonnet-4-5", "openai/gpt-5-mini"],
  };
  return { options, ids: ids as Demo["ids"], runs: [first ?? "", second ?? ""] };
}

const demoCases = [
  { id: "coffee", input: "Is there coffee near the gate?", expected: "Café Anker", calls: ["search"] },
  { id: "delays", input: "How late are departures today?", expected: "89 minutes", calls: ["departures"] },
  { id: "passengers", input: "How many passengers came this year?", expected: "June" },
  { id: "waiting", input: "When is the line at the checkpoint short?", expected: "13:00" },
];

async function runDemoEval({ store, clock, agents }: World): Promise<void> {
  const dataset = "airport questions";
  await saveDataset(store, { name: dataset, description: "What travellers ask most" });
  await saveCases(store, dataset, demoCases);
  const definition = defineEval({
    name: dataset,
    agent: "airport",
    cases: demoCases,
    scorers: [scorers.contains(), scorers.callSequence()],
    attempts: 2,
  });
  await runEval(definition, { store, clock, agents, dataset, id: "exp_demo", concurrency: 1 });
}

type World = {
  readonly store: Store;
  readonly clock: ReturnType<typeof createDemoClock>;
  readonly agents: readonly Agent[];
};

async function runConversation(
  { store, clock, agents }: World,
  { id, name, agent: agentName, messages }: DemoConversation & { readonly id: string },
) {
  const agent = agents.find((conversation) => conversation.name === agentName);
  if (!agent) throw new Error(`Agent not found: ${agentName}`);
  for (const [index, text] of messages.entries()) {
    const handle = run(agent, text, {
      store,
      session: id,
      clock,
      runId: `run_${name}_${index + 1}`,
      timeZone: "UTC",
    });
    const { pending } = await handle;
    clock.pass(40_000);
    if (name !== "approval") for (const { callId } of pending) await handle.approve(callId);
  }
}

async function saveStoredAgent(store: Store, coded: readonly Agent[]): Promise<void> {
  await storedAgents({ store, coded }).save(
    {
      format: 1,
      name: "travel-desk",
      description: "You plan short trips, by train where that is possible.",
      prompt: "Name the price of every leg. Ask before you assume a date.",
      model: "anthropic/claude-sonnet-4-5",
      handoffs: ["airport"],
      policy: { maxTurns: 8 },
    },
    0,
  );
}

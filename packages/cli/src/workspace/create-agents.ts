import {
  type Agent,
  AgentError,
  defineAgent,
  type Model,
  standardInstructions,
  suggestName,
  type Tool,
} from "capstan";
import { defaultModel } from "capstan/models";
import { chooseTools, configured, type Shelf } from "./choose-tools.ts";
import { namedChoice } from "./resolve-model.ts";
import type { WorkspaceFlags } from "./workspace.ts";

/** The agents of a workspace. */
export type Team = { readonly agents: readonly Agent[]; readonly agent: Agent };

const identity =
  "You are a helpful assistant in a terminal, called Capstan. Be brief. Answer in Markdown, in the language of the user.";

/** Makes them of the configuration and the flags: flags concern the chosen one, MCP tools are for all. */
export async function makeAgents(flags: WorkspaceFlags, shelf: Shelf): Promise<Team> {
  const agents = shelf.config.agents?.length ? shelf.config.agents : [await usualAgent(flags, shelf)];
  const chosen = chosenAgent(agents, flags.agent);
  const tools = await chooseTools(flags.tools, () => ownTools(chosen), shelf);
  const model = flags.model === undefined ? undefined : await namedChoice(flags.model);
  const made = new Map<Agent, Agent>();
  const remake = (agent: Agent): Agent => {
    const known = made.get(agent);
    if (known) return known;
    const isChosen = agent === chosen;
    const { mcp } = shelf;
    const source = isChosen ? tools : mcp && (() => [...ownTools(agent), ...mcp.tools]);
    const remade: Agent = {
      ...agent,
      ...(source && withTools(agent, source, shelf)),
      ...(isChosen && withFlags(agent, flags, model)),
      // A run knows its agents by name: those that are handed over to must be the remade ones too.
      ...(agent.handoffs && { handoffs: () => agent.handoffs?.().map(remake) ?? [] }),
    };
    made.set(agent, remade);
    return remade;
  };
  return { agents: agents.map(remake), agent: remake(chosen) };
}

const ownTools = (agent: Agent): readonly Tool[] => agent.toolSource?.() ?? [...agent.tools.values()];

function chosenAgent(agents: readonly Agent[], name: string | undefined): Agent {
  const found = name === undefined ? agents[0] : agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name);
  const hint = suggestName(name ?? "", names) || ` There are: ${names.join(", ")}.`;
  throw new AgentError("unknown_agent", `There is no agent "${name}".${hint}`);
}

async function usualAgent({ model }: WorkspaceFlags, shelf: Shelf): Promise<Agent> {
  const [first] = shelf.config.models ?? [];
  const configuredModel = typeof first === "string" ? await namedChoice(first) : first;
  return defineAgent({
    name: "assistant",
    // Who names a model with a flag needs no other to be looked for.
    model: model === undefined ? (configuredModel ?? (await usualModel(shelf.env))) : "offline",
    instructions: standardInstructions(identity),
    tools: await configured(shelf),
  });
}

async function usualModel(env: Shelf["env"]): Promise<Model | string> {
  return env.CAPSTAN_MODEL ? namedChoice(env.CAPSTAN_MODEL) : defaultModel();
}

/** Tools that may come and go stay a function. */
function withTools(agent: Agent, source: () => readonly Tool[], { mcp }: Shelf): Partial<Agent> {
  if (mcp || agent.toolSource) return { tools: new Map(), specs: [], toolSource: source };
  const { tools, specs } = defineAgent({ name: agent.name, model: "offline", tools: source() });
  return { tools, specs };
}

function withFlags(
  agent: Agent,
  { system, answerSchema }: WorkspaceFlags,
  model: Model | string | undefined,
): Partial<Agent> {
  const { output } = defineAgent({
    name: agent.name,
    model: "offline",
    ...(answerSchema && { output: answerSchema }),
  });
  const chain = model === undefined ? undefined : ([model] as const);
  return {
    ...(chain && { models: { main: chain, afterTools: chain, summary: chain } }),
    ...(system !== undefined && { instructions: system }),
    ...(output && { output }),
  };
}

/** How the model of an agent is called. */
export function modelNameOf(agent: Agent): string {
  const [first] = agent.models.main;
  return typeof first === "string" ? first : first.id;
}

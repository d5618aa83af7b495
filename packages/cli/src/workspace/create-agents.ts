import {
  type Agent,
  AgentError,
  defineAgent,
  type Model,
  type ModelSettings,
  type SettingsSource,
  standardInstructions,
  suggestName,
  type Tool,
} from "capstan";
import { defaultModel } from "capstan/models/default";
import { chooseTools, loadConfiguredTools, type ToolContext } from "./choose-tools.ts";
import { resolveModel } from "./resolve-model.ts";
import type { WorkspaceFlags } from "./workspace.ts";

/** The agents of a workspace, and the chosen one. */
export type Team = { readonly agents: readonly Agent[]; readonly agent: Agent };

const identity =
  "You are a helpful assistant in a terminal, called Capstan. Be brief. Answer in Markdown, in the language of the user.";

/** Creates the agents from the config. Flags apply to the chosen agent, MCP tools to all. */
export async function createAgents(flags: WorkspaceFlags, context: ToolContext): Promise<Team> {
  const agents = context.config.agents?.length
    ? context.config.agents
    : [await createDefaultAgent(flags, context)];
  const chosen = findAgent(agents, flags.agent);
  const { mcp, skills } = context;
  const getTools = (agent: Agent) => skills?.addTo(getOwnTools(agent)) ?? getOwnTools(agent);
  const tools = await chooseTools(flags.tools, () => getTools(chosen), context);
  const model = flags.model === undefined ? undefined : await resolveModel(flags.model);
  const configuredAgents = new Map<Agent, Agent>();
  const configure = (agent: Agent): Agent => {
    const known = configuredAgents.get(agent);
    if (known) return known;
    const isChosen = agent === chosen;
    const isExtended = mcp !== undefined || skills !== undefined;
    const source = isChosen ? tools : isExtended && (() => [...getTools(agent), ...(mcp?.tools ?? [])]);
    const remade: Agent = {
      ...agent,
      ...(source &&
        withTools(agent, source, { ...context, isNarrowed: isChosen && flags.tools !== undefined })),
      ...(isChosen && withFlags(agent, flags, model)),
      // Runs look up agents by name, so handoff targets must be the configured copies too.
      ...(agent.handoffs && { handoffs: () => agent.handoffs?.().map(configure) ?? [] }),
    };
    configuredAgents.set(agent, remade);
    return remade;
  };
  return { agents: agents.map(configure), agent: configure(chosen) };
}

const getOwnTools = (agent: Agent): readonly Tool[] => agent.toolSource?.() ?? [...agent.tools.values()];

function findAgent(agents: readonly Agent[], name: string | undefined): Agent {
  const found = name === undefined ? agents[0] : agents.find((agent) => agent.name === name);
  if (found) return found;
  const names = agents.map((agent) => agent.name);
  const hint = suggestName(name ?? "", names) || ` Available: ${names.join(", ")}.`;
  throw new AgentError("unknown_agent", `Agent "${name}" not found.${hint}`);
}

async function createDefaultAgent({ model }: WorkspaceFlags, context: ToolContext): Promise<Agent> {
  const [firstModel] = context.config.models ?? [];
  const configuredModel = typeof firstModel === "string" ? await resolveModel(firstModel) : firstModel;
  return defineAgent({
    name: "assistant",
    // With --model there is no need to look for a default model.
    model: model === undefined ? (configuredModel ?? (await resolveDefaultModel(context.env))) : "offline",
    instructions: standardInstructions(identity),
    tools: await loadConfiguredTools(context),
  });
}

async function resolveDefaultModel(env: ToolContext["env"]): Promise<Model | string> {
  return env.CAPSTAN_MODEL ? resolveModel(env.CAPSTAN_MODEL) : defaultModel();
}

/** Dynamic tools stay a function. The agent's own tools are then part of its version, unless --tools replaces them. */
function withTools(
  agent: Agent,
  source: () => readonly Tool[],
  { mcp, isNarrowed }: Pick<ToolContext, "mcp"> & { readonly isNarrowed: boolean },
): Partial<Agent> {
  if (mcp || agent.toolSource)
    return { ...(isNarrowed && { tools: new Map(), specs: [] }), toolSource: source };
  const { tools, specs, hosted } = defineAgent({ name: agent.name, model: "offline", tools: source() });
  return { tools, specs, ...((hosted ?? agent.hosted) && { hosted: hosted ?? [] }) };
}

function withFlags(
  agent: Agent,
  { system, answerSchema, effort, temperature }: WorkspaceFlags,
  model: Model | string | undefined,
): Partial<Agent> {
  const { output } = defineAgent({
    name: agent.name,
    model: "offline",
    ...(answerSchema && { output: answerSchema }),
  });
  const chain = model === undefined ? undefined : ([model] as const);
  const settings = {
    ...(effort !== undefined && { effort }),
    ...(temperature !== undefined && { temperature }),
  };
  return {
    ...(Object.keys(settings).length > 0 && { settings: withSettings(agent.settings, settings) }),
    ...(chain && { models: { main: chain, afterTools: chain, summary: chain } }),
    ...(system !== undefined && { instructions: system }),
    ...(output && { output }),
  };
}

function withSettings(own: SettingsSource = {}, settings: ModelSettings): SettingsSource {
  if (typeof own === "function") return (turn) => ({ ...own(turn), ...settings });
  return { ...own, ...settings };
}

/** Returns the name of the agent's main model. */
export function getModelName(agent: Agent): string {
  const [first] = agent.models.main;
  return typeof first === "string" ? first : first.id;
}

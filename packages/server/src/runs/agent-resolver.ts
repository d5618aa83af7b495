import { type Agent, AgentError } from "capstan";
import type { StoredAgents } from "capstan/agents";

type ModelChoice = Agent["models"]["main"][number];

/** The models that a request may choose from, by name. */
export type ModelChoices = ReadonlyMap<string, ModelChoice>;

/** Models by their names. */
export function modelChoices(models: readonly ModelChoice[]): ModelChoices {
  return new Map(models.map((model) => [typeof model === "string" ? model : model.id, model]));
}

/** Finds agents by name, and by `name@model` an agent with another model: so a run that is taken up keeps its model. */
export interface AgentFinder {
  /** Throws `unknown_agent`, and `invalid_input` for a model that is not offered. */
  get(name: string, model?: string): Promise<Agent>;
  find(name: string): Promise<Agent | undefined>;
}

/** For the agents in code and in the store. */
export function agentFinder(agents: StoredAgents, models: ModelChoices): AgentFinder {
  const names = async () => new Set((await agents.list()).map((agent) => agent.name));

  async function get(name: string, model?: string): Promise<Agent> {
    const agent = await agents.agent(name).catch(async (thrown) => {
      throw (await names()).has(name) ? thrown : unknownAgent(name);
    });
    if (model === undefined) return agent;
    const choice = models.get(model);
    if (choice === undefined) throw unknownModel(model, models);
    return withModel(agent, model, choice);
  }

  return {
    get,
    async find(name) {
      const known = await names();
      if (known.has(name)) return get(name);
      const at = name.indexOf("@");
      if (at === -1 || !known.has(name.slice(0, at))) return undefined;
      return get(name.slice(0, at), name.slice(at + 1));
    },
  };
}

function withModel(agent: Agent, name: string, choice: ModelChoice): Agent {
  const models = { ...agent.models, main: [choice], afterTools: [choice] } as const;
  return { ...agent, name: `${agent.name}@${name}`, models };
}

/** Whoever asks need not know which agents are in the code and which in the store. */
function unknownAgent(name: string): AgentError {
  const message = `There is no agent ${JSON.stringify(name)}. \`GET /api/agents\` lists them.`;
  return new AgentError("unknown_agent", message);
}

function unknownModel(model: string, models: ModelChoices): AgentError {
  const known = [...models.keys()].map((name) => JSON.stringify(name)).join(", ");
  const offer = known
    ? `This server offers ${known}.`
    : "This server offers no choice of models: leave it out.";
  return new AgentError("invalid_input", `There is no model ${JSON.stringify(model)}. ${offer}`);
}

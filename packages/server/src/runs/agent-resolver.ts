import { createHash } from "node:crypto";
import { type Agent, AgentError, type Json, type Store } from "capstan";
import type { StoredAgents } from "capstan/agents";
import type { Deployment } from "../deployment.ts";
import { type ClientTool, type ClientWishes, clientAgent } from "../protocols/client-agent.ts";

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

const kind = "client-tools";
const mark = "+tools_";
const form = /^(.+)\+tools_([\w-]{43})$/;

/**
 * Stores the tools that a client declares for a run that is kept, or all that it wants otherwise of the agent, by what they
 * are. Gives what the name of an agent must end with to have them too: so whoever goes on with the run, in any process, has
 * them.
 */
export async function keepToolset(
  store: Store,
  wishes: readonly ClientTool[] | ClientWishes,
): Promise<string> {
  const written = JSON.stringify(wishes);
  const id = createHash("sha256").update(written).digest("base64url");
  if (!(await store.getRecord(kind, id)))
    await store.putRecord({ kind, id, body: JSON.parse(written) as Json }, 0).catch(async (thrown) => {
      // Somebody else was faster, with the same.
      if (!(await store.getRecord(kind, id))) throw thrown;
    });
  return `${mark}${id}`;
}

/** Finds agents with the tools of a client as well, under the names that `keepToolset` makes. */
export function withToolsets({ get, find }: AgentFinder, store: Store): AgentFinder {
  async function added(agent: Agent, id: string): Promise<Agent | undefined> {
    const kept = (await store.getRecord(kind, id))?.body;
    if (kept === undefined) return undefined;
    const wishes = (Array.isArray(kept) ? { tools: kept } : kept) as ClientWishes;
    return { ...clientAgent(agent, wishes), name: `${agent.name}${mark}${id}` };
  }
  return {
    async get(name, model) {
      const [, base, id] = form.exec(name) ?? [];
      const agent = base !== undefined && id !== undefined && (await added(await get(base, model), id));
      return agent || get(name, model);
    },
    async find(name) {
      const [, base, id] = form.exec(name) ?? [];
      if (base === undefined || id === undefined) return find(name);
      const agent = await find(base);
      return agent && added(agent, id);
    },
  };
}

/** The agent that is meant by a model of this API, and the model that it is to have. Throws `unknown_agent`. */
export async function chosenAgent(
  id: string,
  { agents, models }: Deployment,
): Promise<{ readonly agent: string; readonly model?: string }> {
  const names = (await agents.list()).map(({ name }) => name);
  if (names.includes(id)) return { agent: id };
  const agent = names.find((each) => id.startsWith(`${each}@`) && models.has(id.slice(each.length + 1)));
  if (agent === undefined) throw unknownAgentModel(id);
  return { agent, model: id.slice(agent.length + 1) };
}

/** For whoever names none. */
export function unknownAgentModel(id: string): AgentError {
  return new AgentError("unknown_agent", `There is no model "${id}". \`GET /v1/models\` lists them.`);
}

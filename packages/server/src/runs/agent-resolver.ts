import { createHash } from "node:crypto";
import { type Agent, AgentError, type Json, type Store } from "capstan";
import { isLocalModel } from "capstan/models";
import type { Deployment } from "../deployment.ts";
import type { ServerAgents } from "../own-data/data-agents.ts";
import { type AgentOverrides, type ClientTool, createClientAgent } from "../protocols/client-agent.ts";

type ModelChoice = Agent["models"]["main"][number];

/** Models that a request may choose, by name, with or without the provider: `openai/gpt-4o` or `gpt-4o`. */
export type ModelChoices = Pick<ReadonlyMap<string, ModelChoice>, "get" | "has" | "keys"> & {
  /** Also models on this machine, which are not listed here: they come and go. */
  readonly includesLocal: boolean;
};

export function indexModels(models: readonly ModelChoice[], includesLocal = false): ModelChoices {
  const named = new Map(models.map((model) => [getModelId(model), model]));
  const get = (name: string) =>
    named.get(name) ??
    models.find((model) => isNamed(model, name)) ??
    (includesLocal && isLocalModel(name) ? name : undefined);
  return { get, has: (name) => get(name) !== undefined, keys: () => named.keys(), includesLocal };
}

const getModelId = (model: ModelChoice): string => (typeof model === "string" ? model : model.id);

function isNamed(model: ModelChoice, name: string): boolean {
  const id = getModelId(model);
  return id === name || id.slice(id.indexOf("/") + 1) === name;
}

/** Finds agents by name, and by `name@model` with another model, so that a resumed run keeps its model. */
export interface AgentResolver {
  /** Throws `unknown_agent`, or `invalid_input` for a model that is not offered. */
  get(name: string, model?: string): Promise<Agent>;
  find(name: string): Promise<Agent | undefined>;
}

/** Resolves agents defined in code, stored agents, and agents on own data. */
export function createAgentResolver(agents: ServerAgents, models: ModelChoices): AgentResolver {
  const listNames = async () => new Set((await agents.list()).map((agent) => agent.name));

  async function get(name: string, model?: string): Promise<Agent> {
    const agent = await agents.agent(name).catch(async (thrown) => {
      throw (await listNames()).has(name) ? thrown : createUnknownAgentError(name);
    });
    if (model === undefined) return agent;
    const choice = models.get(model);
    if (choice !== undefined) return withModel(agent, choice);
    if (isNamed(agent.models.main[0], model)) return agent;
    throw createUnknownModelError(model, models);
  }

  return {
    get,
    async find(name) {
      const known = await listNames();
      if (known.has(name)) return get(name);
      const at = name.indexOf("@");
      if (at === -1 || !known.has(name.slice(0, at))) return undefined;
      return get(name.slice(0, at), name.slice(at + 1));
    },
  };
}

function withModel(agent: Agent, choice: ModelChoice): Agent {
  const models = { ...agent.models, main: [choice], afterTools: [choice] } as const;
  return { ...agent, name: `${agent.name}@${getModelId(choice)}`, models };
}

/** Does not reveal whether an agent is defined in code or stored. */
function createUnknownAgentError(name: string): AgentError {
  const message = `Unknown agent ${JSON.stringify(name)}. \`GET /api/agents\` lists the agents.`;
  return new AgentError("unknown_agent", message);
}

function createUnknownModelError(model: string, models: ModelChoices): AgentError {
  const known = [...models.keys()].map((name) => JSON.stringify(name)).join(", ");
  const offer = known ? `Available models: ${known}.` : "This server offers no other models. Omit `model`.";
  return new AgentError("invalid_input", `Unknown model ${JSON.stringify(model)}. ${offer}`);
}

const toolsetKind = "client-tools";
const toolsetMark = "+tools_";
const toolsetPattern = /^(.+)\+tools_([\w-]{43})$/;

/** Returns the name of an agent without the suffix from `storeToolset`. */
export function removeToolset(name: string): string {
  return toolsetPattern.exec(name)?.[1] ?? name;
}

/**
 * Stores the tools that a client declares for a stored run, or all of its overrides, by content hash. Returns the
 * suffix for the agent's name, so that any process that resumes the run finds them.
 */
export async function storeToolset(
  store: Store,
  wishes: readonly ClientTool[] | AgentOverrides,
): Promise<string> {
  const written = JSON.stringify(wishes);
  const id = createHash("sha256").update(written).digest("base64url");
  if (!(await store.getRecord(toolsetKind, id)))
    await store
      .putRecord({ kind: toolsetKind, id, body: JSON.parse(written) as Json }, 0)
      .catch(async (thrown) => {
        // A concurrent request may have stored the same toolset.
        if (!(await store.getRecord(toolsetKind, id))) throw thrown;
      });
  return `${toolsetMark}${id}`;
}

/** Also finds agents whose names carry a suffix from `storeToolset`. */
export function withToolsets({ get, find }: AgentResolver, store: Store): AgentResolver {
  async function addToolset(agent: Agent, id: string): Promise<Agent | undefined> {
    const kept = (await store.getRecord(toolsetKind, id))?.body;
    if (kept === undefined) return undefined;
    const wishes = (Array.isArray(kept) ? { tools: kept } : kept) as AgentOverrides;
    return { ...createClientAgent(agent, wishes), name: `${agent.name}${toolsetMark}${id}` };
  }
  return {
    async get(name, model) {
      const [, base, id] = toolsetPattern.exec(name) ?? [];
      const agent = base !== undefined && id !== undefined && (await addToolset(await get(base, model), id));
      return agent || get(name, model);
    },
    async find(name) {
      const [, base, id] = toolsetPattern.exec(name) ?? [];
      if (base === undefined || id === undefined) return find(name);
      const agent = await find(base);
      return agent && addToolset(agent, id);
    },
  };
}

/** Resolves a model id of the OpenAI-compatible API to an agent and its model. Throws `unknown_agent`. */
export async function resolveModelId(
  id: string,
  { agents, models }: Deployment,
): Promise<{ readonly agent: string; readonly model?: string }> {
  const names = (await agents.list()).map(({ name }) => name);
  if (names.includes(id)) return { agent: id };
  const agent = names.find((each) => id.startsWith(`${each}@`) && models.has(id.slice(each.length + 1)));
  if (agent === undefined) throw createModelNotFoundError(id);
  return { agent, model: id.slice(agent.length + 1) };
}

export function createModelNotFoundError(id: string): AgentError {
  return new AgentError("unknown_agent", `Unknown model "${id}". \`GET /v1/models\` lists the models.`);
}

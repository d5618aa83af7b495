import type { Agent, ModelChoice } from "../agent.ts";
import { suggestName } from "../definition.ts";
import { AgentError } from "../errors.ts";
import { isRecord, type Json } from "../json.ts";
import type { Records, StoredRecord } from "../store.ts";
import { type AgentData, type AllowedNames, findAgentProblem, validateAgentData } from "./agent-data.ts";
import { buildTeam } from "./build-team.ts";
import { type PolicyLimits, resolvePolicyLimits } from "./policy-limits.ts";
import { buildRegistry, type ToolRegistry } from "./tool-registry.ts";

/** What stored agents are made of, and how far they may go. */
export type StoredAgentsOptions = {
  readonly store: Records;
  /** Agents in code. They stand beside the stored ones, which cannot take their names. */
  readonly coded?: readonly Agent[];
  /** All that a stored agent may use. What is not here, no data can name. */
  readonly tools?: ToolRegistry;
  /** The names that `sources` may have. A tool that is made by a function is given those of its agent. */
  readonly sources?: readonly string[];
  /** The models that stored agents may use; the first is for those that name none. Left out: any `provider/model`. */
  readonly models?: readonly ModelChoice[];
  readonly policyLimits?: PolicyLimits;
};

/** A stored agent in one of its versions. */
export type StoredAgent = {
  readonly name: string;
  /** Whether a person made it here, or a file brought it. */
  readonly source: "user" | "imported";
  readonly version: number;
  readonly data: AgentData;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Why it cannot run: a tool of it is gone, say. */
  readonly problem?: string;
};

/** An agent in a list: one in code, or a stored one. */
export type ListedAgent =
  | { readonly name: string; readonly source: "coded"; readonly agent: Agent }
  | StoredAgent;

/** Agents as data, in a store. */
export interface StoredAgents {
  /** The coded ones, then the stored ones by name. One that cannot run says why, and harms no other. */
  list(): Promise<readonly ListedAgent[]>;
  /** Of a stored one the current version, unless another is asked for. */
  get(name: string, version?: number): Promise<ListedAgent | undefined>;
  /**
   * Stores the next version. `expectedVersion` is the one it was made from, 0 for a new agent. Rejects with
   * `invalid_input` for data that is not valid, and with `position_conflict` when somebody else was faster.
   */
  save(data: AgentData, expectedVersion: number): Promise<StoredAgent>;
  /** Stores an agent from a file: its data as JSON. It is checked like any other, and stays marked as imported. */
  importAgent(text: string, expectedVersion?: number): Promise<StoredAgent>;
  /** Removes all versions. Refused while another agent hands off to it. */
  remove(name: string, expectedVersion: number): Promise<void>;
  /** An agent that can be run, with those it hands off to: of a stored one the current version, or the given one. */
  agent(name: string, version?: number): Promise<Agent>;
}

type Snapshot = { readonly records: ReadonlyMap<string, StoredRecord>; readonly allowed: AllowedNames };

const recordKind = "agent";
const maxFileLength = 1_000_000;

/** Agents that people make, beside those in code. What is stored is data: names, texts and numbers, never code. */
export function storedAgents(options: StoredAgentsOptions): StoredAgents {
  const { store } = options;
  const coded = indexAgents(options.coded ?? []);
  const registry = buildRegistry(options.tools ?? []);
  const models = options.models && indexModels(options.models);
  const limits = resolvePolicyLimits(options.policyLimits);

  /** What is there at this instant: an agent and those it hands off to are of the same moment. */
  async function takeSnapshot(): Promise<Snapshot> {
    const records = new Map((await store.listRecords(recordKind)).map((record) => [record.id, record]));
    const allowed: AllowedNames = {
      tools: [...registry.keys()],
      sources: options.sources ?? [],
      models: models && [...models.keys()],
      coded: [...coded.keys()],
      agents: [...coded.keys(), ...records.keys()],
      limits: {}, // what was stored under looser limits runs within those of today
    };
    return { records, allowed };
  }

  async function findVersion(name: string, version: number | undefined): Promise<StoredRecord | undefined> {
    if (version === undefined) return store.getRecord(recordKind, name);
    return (await store.listRecordVersions(recordKind, name)).find((record) => record.version === version);
  }

  async function write(value: unknown, expectedVersion: number, newSource: StoredAgent["source"]) {
    const { records, allowed } = await takeSnapshot();
    const data = validateAgentData(value, { ...allowed, limits });
    const existing = records.get(data.name);
    // Who changes a line of an imported agent has not written the rest of it.
    const source = existing ? getSource(existing.body) : newSource;
    const body: Json = { source, data: data as Json };
    const record = await store.putRecord({ kind: recordKind, id: data.name, body }, expectedVersion);
    return toStoredAgent(record, allowed);
  }

  return {
    async list() {
      const { records, allowed } = await takeSnapshot();
      const codedAgents = [...coded.values()].map((agent) => toListedAgent(agent));
      return [...codedAgents, ...[...records.values()].map((record) => toStoredAgent(record, allowed))];
    },
    async get(name, version) {
      const codedAgent = coded.get(name);
      if (codedAgent) return version === undefined ? toListedAgent(codedAgent) : undefined;
      const record = await findVersion(name, version);
      return record && toStoredAgent(record, (await takeSnapshot()).allowed);
    },
    save: (data, expectedVersion) => write(data, expectedVersion, "user"),
    importAgent: async (text, expectedVersion = 0) =>
      write(parseAgentFile(text), expectedVersion, "imported"),
    async remove(name, expectedVersion) {
      const { records, allowed } = await takeSnapshot();
      if (coded.has(name)) throw createCodedAgentError(name);
      if (!records.has(name)) throw createUnknownAgentError(name, allowed);
      for (const { id, body } of records.values())
        if (getHandoffs(body).includes(name)) {
          const message = `The agent "${name}" cannot be removed: "${id}" hands off to it. Change that one first.`;
          throw new AgentError("invalid_input", message);
        }
      await store.removeRecord(recordKind, name, expectedVersion);
    },
    async agent(name, version) {
      const codedAgent = coded.get(name);
      if (codedAgent && version === undefined) return codedAgent;
      const { records, allowed } = await takeSnapshot();
      if (codedAgent) throw createCodedAgentError(name);
      const record = version === undefined ? records.get(name) : await findVersion(name, version);
      if (!record) throw createUnknownAgentError(name, allowed, version);
      const getMemberData = (member: string) => {
        const found = member === name ? record : records.get(member);
        return found && validateAgentData(getData(found.body), allowed);
      };
      return buildTeam(name, { coded, registry, models, limits, getMemberData });
    },
  };
}

function toListedAgent(agent: Agent): ListedAgent {
  return { name: agent.name, source: "coded", agent };
}

function toStoredAgent(
  { id, version, body, createdAt, updatedAt }: StoredRecord,
  allowed: AllowedNames,
): StoredAgent {
  const data = getData(body) as AgentData;
  const problem = findAgentProblem(data, allowed);
  const source = getSource(body);
  return { name: id, source, version, data, createdAt, updatedAt, ...(problem !== undefined && { problem }) };
}

function getData(body: Json): unknown {
  return isRecord(body) ? body.data : undefined;
}

/** What does not say that it was made here was not. */
function getSource(body: Json): StoredAgent["source"] {
  return isRecord(body) && body.source === "user" ? "user" : "imported";
}

function getHandoffs(body: Json): readonly unknown[] {
  const data = getData(body);
  return isRecord(data) && Array.isArray(data.handoffs) ? data.handoffs : [];
}

function parseAgentFile(text: string): unknown {
  if (text.length > maxFileLength) {
    const message = `The file of an agent has ${text.length} characters, and ${maxFileLength} are allowed.`;
    throw new AgentError("invalid_input", message);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = "The file is not that of an agent: it is not JSON.";
    throw new AgentError("invalid_input", message, { cause });
  }
}

function createCodedAgentError(name: string): AgentError {
  return new AgentError("invalid_input", `The agent "${name}" is in code: it has no versions, and stays.`);
}

function createUnknownAgentError(name: string, { agents }: AllowedNames, version?: number): AgentError {
  const message = agents.includes(name)
    ? `The agent ${JSON.stringify(name)} has no version ${version}.`
    : `There is no stored agent named ${JSON.stringify(name)}.${suggestName(name, agents)}`;
  return new AgentError("unknown_agent", message);
}

function indexAgents(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  if (byName.size === agents.length) return byName;
  throw new AgentError("invalid_definition", "Two coded agents have the same name: rename one.");
}

function indexModels(models: readonly ModelChoice[]): ReadonlyMap<string, ModelChoice> {
  if (models.length === 0)
    throw new AgentError(
      "invalid_definition",
      "Stored agents need a model: leave `models` out, or name one.",
    );
  return new Map(models.map((model) => [typeof model === "string" ? model : model.id, model]));
}

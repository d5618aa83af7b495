import { suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import type { Agent, ModelChoice } from "../kernel/agent.ts";
import type { Records, StoredRecord } from "../kernel/records.ts";
import {
  type AgentData,
  type AllowedNames,
  findAgentProblem,
  findModelProblems,
  validateAgentData,
} from "./agent-data.ts";
import { buildTeam } from "./build-team.ts";
import { type PolicyLimits, resolvePolicyLimits } from "./policy-limits.ts";
import { checkSettingsLimits, type SettingsLimits } from "./settings-limits.ts";
import { buildRegistry, type ToolRegistry } from "./tool-registry.ts";

/** Options of `storedAgents`: the store, and the tools, sources and models that stored agents may use. */
export type StoredAgentsOptions = {
  readonly store: Records;
  /** Agents defined in code. Stored agents cannot use their names. */
  readonly coded?: readonly Agent[];
  /** The tools that stored agents may use. No others can be named. */
  readonly tools?: ToolRegistry;
  /** Allowed names in `sources`. A tool maker receives the sources of its agent. */
  readonly sources?: readonly string[];
  /** Models that stored agents may use. The first is the default. If omitted, any `provider/model` is allowed. */
  readonly models?: readonly ModelChoice[];
  readonly policyLimits?: PolicyLimits;
  /** The most that stored agents may ask of a model. */
  readonly settingsLimits?: SettingsLimits;
};

/** One version of a stored agent. */
export type StoredAgent = {
  readonly name: string;
  /** Created here by a user, or imported from a file. */
  readonly source: "user" | "imported";
  readonly version: number;
  readonly data: AgentData;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Why the agent cannot run, for example because one of its tools no longer exists. */
  readonly problem?: string;
  /** Settings that its models ignore. */
  readonly warning?: string;
};

export type ListedAgent =
  | { readonly name: string; readonly source: "coded"; readonly agent: Agent }
  | StoredAgent;

export interface StoredAgents {
  /** Lists coded agents, then stored agents by name. An invalid one is listed with its `problem`. */
  list(): Promise<readonly ListedAgent[]>;
  /** Returns the current version of a stored agent, or the given one. */
  get(name: string, version?: number): Promise<ListedAgent | undefined>;
  /**
   * Stores the next version. `expectedVersion` is the version that was edited, or 0 for a new agent. Rejects with
   * `invalid_input` for invalid data, and with `position_conflict` if another version was saved meanwhile.
   */
  save(data: AgentData, expectedVersion: number): Promise<StoredAgent>;
  /** Stores an agent from JSON text. It is validated like any other and stays marked as imported. */
  importAgent(text: string, expectedVersion?: number): Promise<StoredAgent>;
  /** Removes all versions. Rejects if another agent hands off to it. */
  remove(name: string, expectedVersion: number): Promise<void>;
  /** Builds a runnable agent with its handoff targets, from the current or the given version. */
  agent(name: string, version?: number): Promise<Agent>;
}

type Snapshot = { readonly records: ReadonlyMap<string, StoredRecord>; readonly allowed: AllowedNames };

const recordKind = "agent";
const maxFileLength = 1_000_000;

/**
 * Manages agents stored as data next to agents defined in code. The data contains names, strings and numbers, never
 * code.
 */
export function storedAgents(options: StoredAgentsOptions): StoredAgents {
  const { store } = options;
  const coded = indexAgents(options.coded ?? []);
  const registry = buildRegistry(options.tools ?? []);
  const models = options.models && indexModels(options.models);
  const limits = resolveLimits(options);

  /** Reads all records at once, so that an agent and its handoff targets are consistent. */
  async function takeSnapshot(): Promise<Snapshot> {
    const records = new Map((await store.listRecords(recordKind)).map((record) => [record.id, record]));
    const allowed: AllowedNames = {
      tools: [...registry.keys()],
      sources: options.sources ?? [],
      models: models && [...models.keys()],
      coded: [...coded.keys()],
      agents: [...coded.keys(), ...records.keys()],
      ...noLimits, // agents saved under looser limits stay valid; the current limits apply when they run
    };
    return { records, allowed };
  }

  async function findVersion(name: string, version: number | undefined): Promise<StoredRecord | undefined> {
    if (version === undefined) return store.getRecord(recordKind, name);
    return (await store.listRecordVersions(recordKind, name)).find((record) => record.version === version);
  }

  async function write(value: unknown, expectedVersion: number, newSource: StoredAgent["source"]) {
    const { records, allowed } = await takeSnapshot();
    const data = validateAgentData(value, { ...allowed, ...limits });
    const existing = records.get(data.name);
    // Editing an imported agent does not make it trusted.
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
          const message = `Cannot remove agent "${name}": "${id}" hands off to it. Change "${id}" first.`;
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
      return buildTeam(name, { coded, registry, models, ...limits, getMemberData });
    },
  };
}

type Limits = Pick<AllowedNames, "limits" | "settingsLimits">;

const noLimits: Limits = { limits: {}, settingsLimits: {} };

function resolveLimits({ policyLimits, settingsLimits }: StoredAgentsOptions): Limits {
  return {
    limits: resolvePolicyLimits(policyLimits),
    settingsLimits: settingsLimits ? checkSettingsLimits(settingsLimits) : {},
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
  const state = problem === undefined ? describeIgnored(data, allowed) : { problem };
  return { name: id, source: getSource(body), version, data, createdAt, updatedAt, ...state };
}

function describeIgnored(data: AgentData, { models = [] }: AllowedNames): Pick<StoredAgent, "warning"> {
  const messages = new Set(findModelProblems(data, models).map(({ message }) => message));
  return messages.size > 0 ? { warning: [...messages].join(" ") } : {};
}

function getData(body: Json): unknown {
  return isRecord(body) ? body.data : undefined;
}

/** Treat records without a valid source as imported. */
function getSource(body: Json): StoredAgent["source"] {
  return isRecord(body) && body.source === "user" ? "user" : "imported";
}

function getHandoffs(body: Json): readonly unknown[] {
  const data = getData(body);
  return isRecord(data) && Array.isArray(data.handoffs) ? data.handoffs : [];
}

function parseAgentFile(text: string): unknown {
  if (text.length > maxFileLength) {
    const message = `The agent file has ${text.length} characters; the limit is ${maxFileLength}.`;
    throw new AgentError("invalid_input", message);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = "The agent file is not valid JSON.";
    throw new AgentError("invalid_input", message, { cause });
  }
}

function createCodedAgentError(name: string): AgentError {
  return new AgentError("invalid_input", `Agent "${name}" is defined in code: change it there.`);
}

function createUnknownAgentError(name: string, { agents }: AllowedNames, version?: number): AgentError {
  const message = agents.includes(name)
    ? `Agent ${JSON.stringify(name)} has no version ${version}.`
    : `Stored agent ${JSON.stringify(name)} not found.${suggestName(name, agents)}`;
  return new AgentError("unknown_agent", message);
}

function indexAgents(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  if (byName.size === agents.length) return byName;
  throw new AgentError("invalid_definition", "Two coded agents have the same name. Rename one.");
}

function indexModels(models: readonly ModelChoice[]): ReadonlyMap<string, ModelChoice> {
  if (models.length === 0)
    throw new AgentError(
      "invalid_definition",
      "Stored agents need a model. Omit `models` or list at least one.",
    );
  return new Map(models.map((model) => [typeof model === "string" ? model : model.id, model]));
}

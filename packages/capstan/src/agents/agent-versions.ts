// The definitions of the versions that were used or saved: one record {definition, number?} of kind "agent-version" per
// agent and version, so that runs of older versions can be explained and compared after a deploy.

import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord, type Json, toCanonicalJson } from "../base/json.ts";
import type { Agent } from "../kernel/agent.ts";
import { computeAgentVersion, describeVersion, type VersionedDefinition } from "../kernel/agent-version.ts";
import type { Records, StoredRecord } from "../kernel/records.ts";
import type { AgentData } from "./agent-data.ts";
import type { StoredAgent, StoredAgents } from "./stored-agents.ts";

/** One version of an agent. */
export type AgentVersion = {
  readonly version: string;
  /** The number of a stored agent's version, which `restore` takes. */
  readonly number?: number;
  readonly createdAt: number;
  /** Whether new runs use it. */
  readonly isCurrent: boolean;
  readonly definition: VersionedDefinition;
};

const recordKind = "agent-version";
const maxIdLength = 200;

/** The versions that this process knows to be stored. */
const knownIds = new WeakMap<Records, Set<string>>();

/**
 * Stores the definition of an agent's version, if it is not stored yet. Cheap when called again. `number` is the version
 * of a stored agent.
 */
export async function storeAgentVersion(store: Records, agent: Agent, number?: number): Promise<void> {
  const id = `${agent.name}/${computeAgentVersion(agent)}`;
  const known = knownIds.get(store) ?? new Set();
  knownIds.set(store, known);
  if (known.has(id) || id.length > maxIdLength) return;
  if (!(await store.getRecord(recordKind, id))) {
    const definition = describeVersion(agent) as Json;
    const body: Json = { definition, ...(number !== undefined && { number }) };
    try {
      await store.putRecord({ kind: recordKind, id, body }, 0);
    } catch (thrown) {
      // Another process has just stored it.
      if (describeThrown(thrown, "store_failed").code !== "position_conflict") throw thrown;
    }
  }
  known.add(id);
}

/** Stored agents, among others that have no data. */
type RestorableAgents = Pick<StoredAgents, "save"> & {
  get(
    name: string,
    version?: number,
  ): Promise<{ readonly name: string; readonly data?: AgentData } | undefined>;
};

/**
 * Stores the data of an older version of a stored agent as its next version. Rejects as `save` does, with
 * `unknown_agent` if there is no such version, and with `invalid_input` for an agent in code.
 */
export async function restoreAgent(
  agents: RestorableAgents,
  { name, number }: { readonly name: string; readonly number: number },
  expectedVersion: number,
): Promise<StoredAgent> {
  const stored = await agents.get(name, number);
  if (stored?.data) return agents.save(stored.data, expectedVersion);
  const current = await agents.get(name);
  if (current && !current.data)
    throw new AgentError("invalid_input", `Agent "${name}" is not stored: restore it in its code.`);
  throw new AgentError("unknown_agent", `Agent ${JSON.stringify(name)} has no version ${number}.`);
}

/** Deletes the stored definitions of an agent that was removed. */
export async function removeAgentVersions(store: Records, name: string): Promise<void> {
  for (const { id, version } of await listDefinitions(store, name)) {
    await store.removeRecord(recordKind, id, version);
    knownIds.get(store)?.delete(id);
  }
}

/** Lists the versions of an agent that were used or saved, newest first. */
export async function listAgentVersions(
  store: Records,
  agents: Pick<StoredAgents, "agent">,
  name: string,
): Promise<readonly AgentVersion[]> {
  const numbered = await loadNumberedVersions(store, agents, name);
  const current = await findCurrentVersion(agents, name);
  const byVersion = new Map<string, AgentVersion>();
  for (const { id, body, createdAt } of await listDefinitions(store, name)) {
    const version = id.slice(name.length + 1);
    const { definition, number } = body as unknown as Pick<AgentVersion, "definition" | "number">;
    const saved = numbered.findLast((one) => one.version === version || one.numbers.includes(number ?? 0));
    const newest = saved && { number: saved.numbers.at(-1) ?? 0, createdAt: saved.savedAt };
    byVersion.set(version, { version, createdAt, isCurrent: version === current, definition, ...newest });
  }
  for (const { version, numbers, savedAt, definition } of numbered)
    if (version !== undefined && definition && !byVersion.has(version)) {
      const number = numbers.at(-1) ?? 0;
      byVersion.set(version, {
        ...{ version, number, createdAt: savedAt, isCurrent: version === current, definition },
      });
    }
  return [...byVersion.values()].sort(
    (left, right) => right.createdAt - left.createdAt || (right.number ?? 0) - (left.number ?? 0),
  );
}

async function listDefinitions(store: Records, name: string): Promise<readonly StoredRecord[]> {
  const prefix = `${name}/`;
  return (await store.listRecords(recordKind)).filter(
    ({ id, body }) =>
      id.startsWith(prefix) &&
      !id.includes("/", prefix.length) &&
      isRecord(body) &&
      isRecord(body.definition),
  );
}

/** A stored agent's data, with every number under which it was saved. */
type NumberedVersion = {
  readonly numbers: number[];
  savedAt: number;
  /** Absent if the agent cannot be built, for example because a tool is gone. */
  readonly version?: string;
  readonly definition?: VersionedDefinition;
};

async function loadNumberedVersions(
  store: Records,
  agents: Pick<StoredAgents, "agent">,
  name: string,
): Promise<readonly NumberedVersion[]> {
  const byData = new Map<string, NumberedVersion>();
  for (const { version: number, body, updatedAt } of await store.listRecordVersions("agent", name)) {
    const data = toCanonicalJson(isRecord(body) ? (body.data as Json) : null);
    const known = byData.get(data);
    if (known) {
      known.numbers.push(number);
      known.savedAt = updatedAt;
      continue;
    }
    const agent = await agents.agent(name, number).catch(() => undefined);
    byData.set(data, {
      ...{ numbers: [number], savedAt: updatedAt },
      ...(agent && { version: computeAgentVersion(agent), definition: describeVersion(agent) }),
    });
  }
  return [...byData.values()];
}

async function findCurrentVersion(
  agents: Pick<StoredAgents, "agent">,
  name: string,
): Promise<string | undefined> {
  const agent = await agents.agent(name).catch(() => undefined);
  return agent && computeAgentVersion(agent);
}

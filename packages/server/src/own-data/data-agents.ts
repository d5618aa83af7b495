import { type Agent, AgentError } from "capstan";
import type { ListedAgent, StoredAgents } from "capstan/agents";
import type { AgentProfile } from "../views/server-info.ts";
import type { DataSource } from "./data-source.ts";
import type { OwnData } from "./own-data.ts";

/** An agent on own data. It has an `agent` once the data is loaded, and a `problem` until then. */
export type DataAgent = {
  readonly name: string;
  readonly source: "data";
  /** The name of the app's agent. */
  readonly app: string;
  readonly profile: AgentProfile;
  readonly agent?: Agent;
  readonly problem?: string;
};

/** The agents of a server: defined in code, stored as data, and on own data. */
export interface ServerAgents extends Omit<StoredAgents, "list" | "get"> {
  list(): Promise<readonly (ListedAgent | DataAgent)[]>;
  get(name: string, version?: number): Promise<ListedAgent | DataAgent | undefined>;
}

/** Adds the agents on own data, including agents whose data is still loading: their runs are not lost. */
export function withOwnData(agents: StoredAgents, data: OwnData): ServerAgents {
  const listDataAgents = async () => (await data.list()).flatMap(toDataAgents);
  const find = async (name: string) => (await listDataAgents()).find((agent) => agent.name === name);
  return {
    ...agents,
    list: async () => [...(await agents.list()), ...(await listDataAgents())],
    async get(name, version) {
      return (await agents.get(name, version)) ?? (version === undefined ? find(name) : undefined);
    },
    async agent(name, version) {
      const found = version === undefined ? await find(name) : undefined;
      if (!found) return agents.agent(name, version);
      if (found.agent) return found.agent;
      throw createUnavailableError(await data.get(name));
    },
    async save(agent, expectedVersion) {
      await assertFree(agent.name, find);
      return agents.save(agent, expectedVersion);
    },
  };
}

async function assertFree(name: string, find: (name: string) => Promise<DataAgent | undefined>) {
  if (!(await find(name))) return;
  throw new AgentError("invalid_input", `The name "${name}" belongs to own data. Choose another name.`);
}

function toDataAgents({ name, app, title, state }: DataSource): readonly DataAgent[] {
  const base = { name, source: "data", app, profile: { title } } as const;
  if (state.type !== "ready") return [{ ...base, problem: createUnavailableError({ name, state }).message }];
  const { agents, profile } = state.loaded;
  return agents.map((agent) => ({
    ...{ ...base, name: agent.name, agent },
    profile: agent.name === name ? { title, ...profile } : {},
  }));
}

/** Without the reason of a failure, which may contain paths: admins see it in the list of own data. */
function createUnavailableError({ name, state }: Pick<DataSource, "name" | "state">): AgentError {
  if (state.type === "failed") {
    const message = `The data of agent "${name}" could not be loaded. \`GET /api/data\` says why. Load it again, or remove it.`;
    return new AgentError("data_failed", message);
  }
  const what = state.type === "uploading" ? "is still being uploaded" : "is still loading";
  return new AgentError("data_loading", `The data of agent "${name}" ${what}. Try again in a moment.`);
}

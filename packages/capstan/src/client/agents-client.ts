import type { AgentData } from "../agents/agent-data.ts";
import type { AgentVersion } from "../agents/agent-versions.ts";
import type { SkillInfo, Tool } from "../kernel/tool.ts";
import type { Connection } from "./connection.ts";

/** A tool, as shown to users who choose or build an agent. */
export type ToolInfo = {
  readonly name: string;
  readonly description: string;
  /** Phrases of users that the tool is for, with `{slots}`. */
  readonly examples?: readonly string[];
  /** Undefined when the tool does not declare its effects. */
  readonly effects?: Tool["effects"];
  readonly reads?: Tool["reads"];
  /** Calls may require approval. */
  readonly needsApproval: boolean;
  /** Executed by the client: the run waits for its result. */
  readonly isClientSide: boolean;
};

/** An agent of a server: defined in code, stored by a user, or an app on own data. */
export type AgentInfo = {
  readonly name: string;
  readonly source: "coded" | "user" | "imported" | "data";
  readonly description?: string;
  /** Model names in the order in which they are tried. */
  readonly models: readonly string[];
  readonly tools: readonly ToolInfo[];
  /** Absent without any. */
  readonly skills?: readonly SkillInfo[];
  readonly handoffs: readonly string[];
  /** Set when the agent cannot run. */
  readonly problem?: string;
  /** Settings that its models ignore, for users who may edit the agent. */
  readonly warning?: string;
  readonly version?: number;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Definition of a stored agent, for users who may edit it. */
  readonly data?: AgentData;
};

/** One version of an agent; its definition is for users who may edit agents. */
export type AgentVersionInfo = Omit<AgentVersion, "definition"> & Partial<Pick<AgentVersion, "definition">>;

/** Reads and edits the agents of a server. */
export interface AgentsClient {
  list(): Promise<readonly AgentInfo[]>;
  /** Returns the current version of a stored agent unless `version` is given. */
  get(name: string, version?: number): Promise<AgentInfo>;
  /**
   * Stores the next version. `expectedVersion` is the version it is based on, 0 for a new agent. Rejects with
   * `position_conflict` when another version was saved in between.
   */
  save(data: AgentData, expectedVersion: number): Promise<AgentInfo>;
  /** Lists the versions of a coded or stored agent that were used or saved, newest first. */
  versions(name: string): Promise<readonly AgentVersionInfo[]>;
  /** Stores the data of an older version of a stored agent as its next version. */
  restore(name: string, number: number, expectedVersion: number): Promise<AgentInfo>;
  /** Removes all versions. */
  remove(name: string, expectedVersion: number): Promise<void>;
}

export function createAgentsClient({ request }: Connection): AgentsClient {
  const getAgentPath = (name: string) => `/api/agents/${encodeURIComponent(name)}`;
  return {
    list: async () =>
      (await request<{ agents: readonly AgentInfo[] }>({ method: "GET", path: "/api/agents" })).agents,
    get: (name, version) => request({ method: "GET", path: getAgentPath(name), query: { version } }),
    save: (data, expectedVersion) =>
      request({ method: "PUT", path: getAgentPath(data.name), body: { data, expectedVersion } }),
    async versions(name) {
      const path = `${getAgentPath(name)}/versions`;
      return (await request<{ versions: readonly AgentVersionInfo[] }>({ method: "GET", path })).versions;
    },
    restore: (name, number, expectedVersion) =>
      request({
        method: "POST",
        path: `${getAgentPath(name)}/restore`,
        body: { version: number, expectedVersion },
      }),
    async remove(name, expectedVersion) {
      const query = { expectedVersion };
      await request({ method: "DELETE", path: getAgentPath(name), query, isIdempotent: true });
    },
  };
}

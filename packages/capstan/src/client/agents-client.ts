import type { AgentData } from "../agents/agent-data.ts";
import type { Tool } from "../tool.ts";
import type { Connection } from "./connection.ts";

/** A tool as people choose agents by it. */
export type ToolInfo = {
  readonly name: string;
  readonly description: string;
  /** Left out: nobody has said what it changes. */
  readonly effects?: Tool["effects"];
  readonly reads?: Tool["reads"];
  /** A person may have to agree to a call. */
  readonly needsApproval: boolean;
  /** The client runs it: the run waits for the result. */
  readonly isClientSide: boolean;
};

/** An agent of a server: one in its code, or one that people have made there. */
export type AgentInfo = {
  readonly name: string;
  readonly source: "coded" | "user" | "imported";
  readonly description?: string;
  /** The names of those that are asked, the first one first. */
  readonly models: readonly string[];
  readonly tools: readonly ToolInfo[];
  readonly handoffs: readonly string[];
  /** Why it cannot run. */
  readonly problem?: string;
  readonly version?: number;
  readonly createdAt?: number;
  readonly updatedAt?: number;
  /** Of a stored one what it is made of, for those who may change it. */
  readonly data?: AgentData;
};

/** The agents of a server. */
export interface AgentsClient {
  list(): Promise<readonly AgentInfo[]>;
  /** Of a stored one the current version, unless another is asked for. */
  get(name: string, version?: number): Promise<AgentInfo>;
  /**
   * Stores the next version. `expectedVersion` is the one it was made from, 0 for a new agent: rejects with
   * `position_conflict` when somebody else was faster.
   */
  save(data: AgentData, expectedVersion: number): Promise<AgentInfo>;
  /** Removes all versions. */
  remove(name: string, expectedVersion: number): Promise<void>;
}

/** The agents of the server at the other end. */
export function agentsClient({ ask }: Connection): AgentsClient {
  const pathOf = (name: string) => `/api/agents/${encodeURIComponent(name)}`;
  return {
    list: async () =>
      (await ask<{ agents: readonly AgentInfo[] }>({ method: "GET", path: "/api/agents" })).agents,
    get: (name, version) => ask({ method: "GET", path: pathOf(name), query: { version } }),
    save: (data, expectedVersion) =>
      ask({ method: "PUT", path: pathOf(data.name), body: { data, expectedVersion } }),
    async remove(name, expectedVersion) {
      const query = { expectedVersion };
      await ask({ method: "DELETE", path: pathOf(name), query, isRepeatable: true });
    },
  };
}

import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { McpServer, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { type Agent, AgentError } from "capstan";
import type { Io } from "../io.ts";
import { getModelName } from "../workspace/create-agents.ts";
import { readMcpConfig } from "../workspace/mcp-servers.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { selectEditorServers } from "./editor-servers.ts";
import { createSessionUpdates, type SessionUpdates } from "./session-updates.ts";

/** A session that an editor has open: a conversation in a folder, with the configuration of that folder. */
export type AcpSession = {
  readonly id: string;
  readonly cwd: string;
  workspace: Workspace;
  /** Who answers. */
  agent: Agent;
  model: string;
  readonly updates: SessionUpdates;
  /** The position of the last fact that was told. */
  lastSeq: number;
  /** Tools whose calls need not be asked for again. */
  readonly allowed: Set<string>;
  /** What a person should know, and was not told yet. */
  notices: readonly string[];
  /** Aborted to stop what is under way; left out while nothing is. */
  turn?: AbortController | undefined;
  /** Opens the same with another model for the agent that answers. */
  reopen(model: string): Promise<void>;
};

/** What an editor says when it opens one. */
export type OpenSessionOptions = {
  readonly id?: string;
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
};

/** Opens it. Rejects where the folder has a configuration that is not trusted. */
export async function openSession(
  flags: WorkspaceFlags,
  given: Io,
  opening: OpenSessionOptions,
): Promise<AcpSession> {
  const { cwd } = opening;
  assertFolder(cwd);
  const io: Io = { ...given, cwd };
  const { servers, notices } = selectEditorServers(opening.mcpServers, io);
  const { mcpConfig } = flags;
  const all = { ...(mcpConfig !== undefined && readMcpConfig(mcpConfig, given)), ...servers };
  const more = Object.keys(all).length > 0 && { mcpConfig: JSON.stringify({ mcpServers: all }) };
  // Nobody sits at its terminal, if it has one: the editor asks.
  const open = (chosen: Pick<WorkspaceFlags, "agent" | "model">) =>
    openWorkspace({ ...flags, ...more, ...chosen, isScript: true }, io);
  const workspace = await open({});
  const session: AcpSession = {
    ...{ id: opening.id ?? `ses_${randomUUID()}`, cwd, workspace, agent: workspace.agent },
    model: flags.model ?? getModelName(workspace.agent),
    updates: createSessionUpdates(cwd),
    lastSeq: 0,
    allowed: new Set(),
    notices: [...workspace.notices, ...notices],
    async reopen(model) {
      const next = await open({ agent: session.agent.name, model });
      const old = session.workspace;
      Object.assign(session, { workspace: next, agent: next.agent, model });
      await old.close();
    },
  };
  return session;
}

function assertFolder(cwd: string): void {
  const isFolder = isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) return;
  throw new AgentError(
    "invalid_input",
    `The folder ${JSON.stringify(cwd)} is not there: give the whole path of one.`,
  );
}

/** The agents, as modes; nothing when there is no choice. */
export function getModes({ workspace, agent }: AcpSession): { modes?: SessionModeState } {
  const { agents, config } = workspace;
  if (agents.length < 2) return {};
  const availableModes = agents.map(({ name }) => {
    const { title = name, description } = config.about?.[name] ?? {};
    return { id: name, name: title, ...(description !== undefined && { description }) };
  });
  return { modes: { currentModeId: agent.name, availableModes } };
}

/** The models of the configuration that have a name, to choose from; nothing when there is no choice. */
export function getConfigOptions({ workspace, model }: AcpSession): {
  configOptions?: SessionConfigOption[];
} {
  const named = (workspace.config.models ?? []).filter((one) => typeof one === "string");
  const names = [...new Set([model, ...named])];
  if (named.length === 0 || names.length < 2) return {};
  const options = names.map((name) => ({ value: name, name }));
  const choice = { id: "model", name: "Model", category: "model", currentValue: model, options };
  return { configOptions: [{ type: "select", ...choice }] };
}

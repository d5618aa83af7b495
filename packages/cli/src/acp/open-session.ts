import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { McpServer, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { type Agent, AgentError, type Effort, effortLevels } from "capstan";
import type { Io } from "../io.ts";
import { getModelName } from "../workspace/create-agents.ts";
import { readMcpConfig } from "../workspace/mcp-servers.ts";
import type { Workspace, WorkspaceFlags } from "../workspace/workspace.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { selectEditorServers } from "./editor-servers.ts";
import { createSessionUpdates, type SessionUpdates } from "./session-updates.ts";

/** A session in an editor: a conversation in a folder, with that folder's config. */
export type AcpSession = {
  readonly id: string;
  readonly cwd: string;
  workspace: Workspace;
  /** The current agent. */
  agent: Agent;
  model: string;
  /** Default: the agent's. */
  effort?: Effort | undefined;
  readonly updates: SessionUpdates;
  /** Position of the last fact sent. */
  lastSeq: number;
  /** Notices that are not sent yet. */
  notices: readonly string[];
  /** Aborted to stop the current turn; undefined between turns. */
  turn?: AbortController | undefined;
  /** Resolves when the current turn has ended. */
  turnEnd?: Promise<void>;
  /** Reopens the workspace with another model for the current agent. */
  reopen(model: string): Promise<void>;
};

/** Request of an editor. */
export type OpenSessionOptions = {
  readonly id?: string;
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
};

/** Opens a session. Rejects when the folder's config is not trusted. */
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
  // Never prompt in the terminal: the editor asks.
  const open = (chosen: Pick<WorkspaceFlags, "agent" | "model">) =>
    openWorkspace({ ...flags, ...more, ...chosen, isScript: true }, io);
  const workspace = await open({});
  const session: AcpSession = {
    ...{ id: opening.id ?? `ses_${crypto.randomUUID()}`, cwd, workspace, agent: workspace.agent },
    model: flags.model ?? getModelName(workspace.agent),
    updates: createSessionUpdates(cwd),
    lastSeq: 0,
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
    `Folder ${JSON.stringify(cwd)} not found. Use the absolute path of an existing folder.`,
  );
}

/** Returns the agents as modes, when there are several. */
export function getModes({ workspace, agent }: AcpSession): { modes?: SessionModeState } {
  const { agents, config } = workspace;
  if (agents.length < 2) return {};
  const availableModes = agents.map(({ name }) => {
    const { title = name, description } = config.about?.[name] ?? {};
    return { id: name, name: title, ...(description !== undefined && { description }) };
  });
  return { modes: { currentModeId: agent.name, availableModes } };
}

export type SelectOption = Extract<SessionConfigOption, { readonly type: "select" }> & {
  readonly options: { readonly value: string; readonly name: string }[];
};

/** Returns the named models of the config, when there are several, and the effort as options. */
export function getConfigOptions({ workspace, model, effort }: AcpSession): SelectOption[] {
  const named = (workspace.config.models ?? []).filter((one) => typeof one === "string");
  const models = [...new Set([model, ...named])].map((name) => ({ value: name, name }));
  const efforts = ["default", ...effortLevels].map((name) => ({ value: name, name }));
  const choices: SelectOption[] = [
    { type: "select", id: "model", name: "Model", category: "model", currentValue: model, options: models },
    {
      ...{ type: "select", id: "effort", name: "Effort", category: "thought_level" },
      ...{ currentValue: String(effort ?? "default"), options: efforts },
    },
  ];
  return named.length > 0 && models.length > 1 ? choices : choices.slice(1);
}

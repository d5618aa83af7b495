import { resolve } from "node:path";
import {
  type LoadSessionRequest,
  type NewSessionRequest,
  type PromptRequest,
  RequestError,
  type SetSessionConfigOptionRequest,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { AgentError } from "capstan";
import type { Io } from "../io.ts";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { getModelName } from "../workspace/create-agents.ts";
import { parseEffort } from "../workspace/parse-effort.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { runCommand } from "./commands.ts";
import { sendNotices } from "./editor.ts";
import { type AcpSession, getConfigOptions, type OpenSessionOptions, openSession } from "./open-session.ts";
import { toRunInput } from "./prompt-input.ts";
import { type Editor, runPromptTurn } from "./prompt-turn.ts";

/** Open sessions of one connection. Unknown ids are "not found". */
export interface AcpSessions {
  create(request: NewSessionRequest): Promise<AcpSession>;
  /** Opens a stored session and replays it to the editor. */
  load(request: LoadSessionRequest, editor: Editor): Promise<AcpSession>;
  prompt(request: PromptRequest, editor: Editor): Promise<StopReason>;
  stop(sessionId: string): void;
  chooseAgent(sessionId: string, name: string, editor: Editor): Promise<void>;
  setOption(request: SetSessionConfigOptionRequest): Promise<AcpSession>;
  /** Closes a session and stops its turn. */
  closeSession(sessionId: string): Promise<void>;
  /** Releases active runs, so that they resume when the session is loaded again. */
  close(): Promise<void>;
}

export function createAcpSessions(given: WorkspaceFlags, io: Io): AcpSessions {
  const open = new Map<string, AcpSession>();
  const flags = withAbsolutePaths(given, io);

  function getSession(id: string): AcpSession {
    const session = open.get(id);
    if (session) return session;
    throw RequestError.sessionNotFound(id);
  }
  async function openAndReport(opening: OpenSessionOptions): Promise<AcpSession> {
    const session = await openSession(flags, io, opening);
    for (const notice of session.notices) io.stderr.write(`${escapeTerminal(notice)}\n`);
    return session;
  }
  async function leave(id: string): Promise<void> {
    const session = getSession(id);
    open.delete(id);
    session.turn?.abort();
    await session.workspace.close();
  }

  return {
    async create({ cwd, mcpServers }) {
      const session = await openAndReport({ cwd, mcpServers });
      open.set(session.id, session);
      return session;
    },
    async load({ sessionId, cwd, mcpServers }, editor) {
      if (open.has(sessionId)) await leave(sessionId);
      const session = await openAndReport({ id: sessionId, cwd, mcpServers });
      try {
        await replayFacts(session, editor);
      } catch (error) {
        await session.workspace.close();
        throw error;
      }
      open.set(sessionId, session);
      return session;
    },
    async prompt({ sessionId, prompt }, editor) {
      const session = getSession(sessionId);
      const input = toRunInput(prompt, session.cwd);
      const text = runCommand(session, input);
      if (text === undefined) {
        if (!session.turn) await sendNotices(session, editor);
        return runPromptTurn(session, input, editor);
      }
      await editor.update(sessionId, {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
      });
      return "end_turn";
    },
    stop: (id) => open.get(id)?.turn?.abort(),
    async chooseAgent(id, name, editor) {
      const session = getSession(id);
      const agent = session.workspace.agents.find((one) => one.name === name);
      if (!agent) throw new AgentError("invalid_input", `Agent ${JSON.stringify(name)} not found.`);
      Object.assign(session, { agent, model: getModelName(agent) });
      const configOptions = getConfigOptions(session);
      await editor.update(id, { sessionUpdate: "config_option_update", configOptions });
    },
    async setOption(request) {
      const session = getSession(request.sessionId);
      await chooseOption(session, request);
      return session;
    },
    closeSession: leave,
    async close() {
      await Promise.all([...open.values()].map(({ workspace }) => workspace.close()));
    },
  };
}

/** Paths in flags are relative to where the command was started, not to a session's folder. */
function withAbsolutePaths(flags: WorkspaceFlags, { cwd }: Io): WorkspaceFlags {
  const { config, database } = flags;
  return {
    ...flags,
    ...(config !== undefined && { config: resolve(cwd, config) }),
    ...(database !== undefined &&
      !/^postgres(?:ql)?:/.test(database) && { database: resolve(cwd, database) }),
  };
}

/** Facts per read. */
const pageSize = 500;

async function replayFacts(session: AcpSession, editor: Editor): Promise<void> {
  const { store } = session.workspace;
  if (!(await store.getSession(session.id))) throw RequestError.sessionNotFound(session.id);
  for (;;) {
    const page = await store.read(session.id, session.lastSeq, pageSize);
    for (const fact of page) {
      session.lastSeq = fact.seq;
      for (const update of session.updates.fromStoredFact(fact)) await editor.update(session.id, update);
    }
    if (page.length < pageSize) return;
  }
}

async function chooseOption(
  session: AcpSession,
  { configId, ...given }: SetSessionConfigOptionRequest,
): Promise<void> {
  const { value } = given;
  const option = getConfigOptions(session).find(({ id }) => id === configId);
  if (typeof value !== "string" || !option?.options.some((known) => known.value === value))
    throw new AgentError(
      "invalid_input",
      `Invalid value ${JSON.stringify(value)} for ${JSON.stringify(configId)}.`,
    );
  if (session.turn)
    throw new AgentError("session_busy", "A prompt is running. Change this when it has ended.");
  if (configId === "effort") session.effort = parseEffort(value);
  else if (value !== session.model) await session.reopen(value);
}

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
import { harmless } from "../terminal/escape-terminal.ts";
import { modelNameOf } from "../workspace/create-agents.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";
import { commandAnswer } from "./commands.ts";
import { tellNotices } from "./editor.ts";
import { type AcpSession, type Opening, openSession, optionsOf } from "./open-session.ts";
import { promptInput } from "./prompt-input.ts";
import { type Editor, promptTurn } from "./prompt-turn.ts";

/** The sessions that are open in one connection. Whoever names another gets "not found". */
export interface AcpSessions {
  begin(request: NewSessionRequest): Promise<AcpSession>;
  /** Opens a stored one, and tells the editor all that was said in it. */
  load(request: LoadSessionRequest, editor: Editor): Promise<AcpSession>;
  prompt(request: PromptRequest, editor: Editor): Promise<StopReason>;
  stop(sessionId: string): void;
  chooseAgent(sessionId: string, name: string, editor: Editor): Promise<void>;
  choose(request: SetSessionConfigOptionRequest): Promise<AcpSession>;
  /** Forgets one; what is under way in it is stopped. */
  leave(sessionId: string): Promise<void>;
  /** Puts down what is under way, for whoever loads the session next. */
  close(): Promise<void>;
}

/** None is open at first. */
export function acpSessions(given: WorkspaceFlags, io: Io): AcpSessions {
  const open = new Map<string, AcpSession>();
  const flags = withWholePaths(given, io);

  function found(id: string): AcpSession {
    const session = open.get(id);
    if (session) return session;
    throw RequestError.sessionNotFound(id);
  }
  async function opened(opening: Opening): Promise<AcpSession> {
    const session = await openSession(flags, io, opening);
    for (const notice of session.notices) io.stderr.write(`${harmless(notice)}\n`);
    return session;
  }
  async function leave(id: string): Promise<void> {
    const session = found(id);
    open.delete(id);
    session.turn?.abort();
    await session.workspace.close();
  }

  return {
    async begin({ cwd, mcpServers }) {
      const session = await opened({ cwd, mcpServers });
      open.set(session.id, session);
      return session;
    },
    async load({ sessionId, cwd, mcpServers }, editor) {
      if (open.has(sessionId)) await leave(sessionId);
      const session = await opened({ id: sessionId, cwd, mcpServers });
      try {
        await replay(session, editor);
      } catch (error) {
        await session.workspace.close();
        throw error;
      }
      open.set(sessionId, session);
      return session;
    },
    async prompt({ sessionId, prompt }, editor) {
      const session = found(sessionId);
      const input = promptInput(prompt, session.cwd);
      const text = commandAnswer(session, input);
      if (text === undefined) {
        if (!session.turn) await tellNotices(session, editor);
        return promptTurn(session, input, editor);
      }
      await editor.update(sessionId, {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text },
      });
      return "end_turn";
    },
    stop: (id) => open.get(id)?.turn?.abort(),
    async chooseAgent(id, name, editor) {
      const session = found(id);
      const agent = session.workspace.agents.find((one) => one.name === name);
      if (!agent) throw new AgentError("invalid_input", `There is no agent ${JSON.stringify(name)} here.`);
      Object.assign(session, { agent, model: modelNameOf(agent) });
      const { configOptions } = optionsOf(session);
      if (configOptions) await editor.update(id, { sessionUpdate: "config_option_update", configOptions });
    },
    async choose(request) {
      const session = found(request.sessionId);
      await chooseModel(session, request);
      return session;
    },
    leave,
    async close() {
      await Promise.all([...open.values()].map(({ workspace }) => workspace.close()));
    },
  };
}

/** A file that a flag names is where the command was started, not where a session is. */
function withWholePaths(flags: WorkspaceFlags, { cwd }: Io): WorkspaceFlags {
  const { config, database } = flags;
  return {
    ...flags,
    ...(config !== undefined && { config: resolve(cwd, config) }),
    ...(database !== undefined &&
      !/^postgres(?:ql)?:/.test(database) && { database: resolve(cwd, database) }),
  };
}

async function replay(session: AcpSession, editor: Editor): Promise<void> {
  const { store } = session.workspace;
  if (!(await store.getSession(session.id))) throw RequestError.sessionNotFound(session.id);
  for (const fact of await store.read(session.id)) {
    session.seen = fact.seq;
    for (const update of session.updates.replayed(fact)) await editor.update(session.id, update);
  }
}

async function chooseModel(
  session: AcpSession,
  { configId, ...given }: SetSessionConfigOptionRequest,
): Promise<void> {
  const [option] = optionsOf(session).configOptions ?? [];
  const { value } = given;
  const known = option?.type === "select" ? option.options : [];
  const isKnown = configId === option?.id && known.some((one) => "value" in one && one.value === value);
  if (!isKnown || typeof value !== "string")
    throw new AgentError(
      "invalid_input",
      `${JSON.stringify(value)} is no choice for ${JSON.stringify(configId)} here.`,
    );
  if (session.turn)
    throw new AgentError("session_busy", "Something is under way: choose another model when it has ended.");
  if (value !== session.model) await session.reopen(value);
}

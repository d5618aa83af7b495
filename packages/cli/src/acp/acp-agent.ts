import {
  type AgentApp,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import type { Io } from "../io.ts";
import { version } from "../version.ts";
import { editorOf, introduce } from "./editor.ts";
import { type AcpSession, modesOf, optionsOf } from "./open-session.ts";
import { problemOf } from "./problem.ts";
import type { Editor } from "./prompt-turn.ts";
import type { AcpSessions } from "./sessions.ts";

const introduction: InitializeResponse = {
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: "capstan", title: "Capstan", version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: { close: {} },
  },
  authMethods: [],
};

const { session } = methods.agent;

/** The agent's side of a connection: which request does what. */
export function acpAgent(sessions: AcpSessions, { env, stderr }: Pick<Io, "env" | "stderr">): AgentApp {
  let abilities: ClientCapabilities = {};
  /** An answer, or an error in plain words. */
  async function plain<Answer>(answer: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer();
    } catch (error) {
      throw problemOf(error, env);
    }
  }
  /** An editor knows a session when it has the answer, and not before. */
  function opened(one: AcpSession, editor: Editor): Pick<AcpSession, "id"> & ReturnType<typeof choicesOf> {
    setImmediate(() => {
      introduce(one, editor, abilities).catch((error: Error) => stderr.write(`${error.message}\n`));
    });
    return { id: one.id, ...choicesOf(one) };
  }

  return (
    agent({ name: "capstan" })
      .onRequest(methods.agent.initialize, ({ params }) => {
        abilities = params.clientCapabilities ?? {};
        return introduction;
      })
      // There is nothing to sign in to: the keys of providers are in the environment.
      .onRequest(methods.agent.authenticate, () => ({}))
      .onRequest(session.new, ({ params, client }) =>
        plain(async () => {
          const { id, ...choices } = opened(await sessions.begin(params), editorOf(client));
          return { sessionId: id, ...choices };
        }),
      )
      .onRequest(session.load, ({ params, client }) =>
        plain(async () => {
          const { id: _, ...choices } = opened(
            await sessions.load(params, editorOf(client)),
            editorOf(client),
          );
          return choices;
        }),
      )
      .onRequest(session.prompt, ({ params, client, signal }) => {
        signal.addEventListener("abort", () => {
          // Also aborted when the editor is gone: what it began is then put down, not stopped.
          if (isCancelled(signal.reason)) sessions.stop(params.sessionId);
        });
        return plain(async () => ({ stopReason: await sessions.prompt(params, editorOf(client)) }));
      })
      .onNotification(session.cancel, ({ params }) => sessions.stop(params.sessionId))
      .onRequest(session.setMode, ({ params: { sessionId, modeId }, client }) =>
        plain(() => sessions.chooseAgent(sessionId, modeId, editorOf(client))).then(() => ({})),
      )
      .onRequest(session.setConfigOption, ({ params }) =>
        plain(async () => ({ configOptions: optionsOf(await sessions.choose(params)).configOptions ?? [] })),
      )
      .onRequest(session.close, ({ params }) =>
        plain(() => sessions.leave(params.sessionId)).then(() => ({})),
      )
  );
}

const cancelledCode = -32800;
const isCancelled = (reason: unknown): boolean =>
  reason instanceof RequestError && reason.code === cancelledCode;

const choicesOf = (one: AcpSession) => ({ ...modesOf(one), ...optionsOf(one) });

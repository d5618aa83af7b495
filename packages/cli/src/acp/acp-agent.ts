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
import { announce, createEditor } from "./editor.ts";
import { type AcpSession, getConfigOptions, getModes } from "./open-session.ts";
import { toRequestError } from "./problem.ts";
import type { Editor } from "./prompt-turn.ts";
import type { AcpSessions } from "./sessions.ts";

const initializeResponse: InitializeResponse = {
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

/** Creates the agent side of a connection: maps requests to sessions. */
export function createAcpAgent(sessions: AcpSessions, { env, stderr }: Pick<Io, "env" | "stderr">): AgentApp {
  let capabilities: ClientCapabilities = {};
  /** Converts thrown errors to request errors. */
  async function withRequestErrors<Answer>(answer: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer();
    } catch (error) {
      throw toRequestError(error, env);
    }
  }
  /** Announces a session after the response: the editor does not know the session before. */
  function announceSession(
    one: AcpSession,
    editor: Editor,
  ): Pick<AcpSession, "id"> & ReturnType<typeof getSessionOptions> {
    setImmediate(() => {
      announce(one, editor, capabilities).catch((error: Error) => stderr.write(`${error.message}\n`));
    });
    return { id: one.id, ...getSessionOptions(one) };
  }

  return (
    agent({ name: "capstan" })
      .onRequest(methods.agent.initialize, ({ params }) => {
        capabilities = params.clientCapabilities ?? {};
        return initializeResponse;
      })
      // No sign-in: provider keys are in the environment.
      .onRequest(methods.agent.authenticate, () => ({}))
      .onRequest(session.new, ({ params, client }) =>
        withRequestErrors(async () => {
          const { id, ...choices } = announceSession(await sessions.create(params), createEditor(client));
          return { sessionId: id, ...choices };
        }),
      )
      .onRequest(session.load, ({ params, client }) =>
        withRequestErrors(async () => {
          const { id: _, ...choices } = announceSession(
            await sessions.load(params, createEditor(client)),
            createEditor(client),
          );
          return choices;
        }),
      )
      .onRequest(session.prompt, ({ params, client, signal }) => {
        signal.addEventListener("abort", () => {
          // The signal also aborts when the editor disconnects; its runs are then released, not cancelled.
          if (isCancelled(signal.reason)) sessions.stop(params.sessionId);
        });
        return withRequestErrors(async () => ({
          stopReason: await sessions.prompt(params, createEditor(client)),
        }));
      })
      .onNotification(session.cancel, ({ params }) => sessions.stop(params.sessionId))
      .onRequest(session.setMode, ({ params: { sessionId, modeId }, client }) =>
        withRequestErrors(() => sessions.chooseAgent(sessionId, modeId, createEditor(client))).then(
          () => ({}),
        ),
      )
      .onRequest(session.setConfigOption, ({ params }) =>
        withRequestErrors(async () => ({
          configOptions: getConfigOptions(await sessions.setOption(params)),
        })),
      )
      .onRequest(session.close, ({ params }) =>
        withRequestErrors(() => sessions.closeSession(params.sessionId)).then(() => ({})),
      )
  );
}

const cancelledCode = -32800;
const isCancelled = (reason: unknown): boolean =>
  reason instanceof RequestError && reason.code === cancelledCode;

const getSessionOptions = (one: AcpSession) => ({ ...getModes(one), configOptions: getConfigOptions(one) });

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

/** The agent's side of a connection: which request does what. */
export function createAcpAgent(sessions: AcpSessions, { env, stderr }: Pick<Io, "env" | "stderr">): AgentApp {
  let capabilities: ClientCapabilities = {};
  /** An answer, or an error in plain words. */
  async function withRequestErrors<Answer>(answer: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer();
    } catch (error) {
      throw toRequestError(error, env);
    }
  }
  /** An editor knows a session when it has the answer, and not before. */
  function announceSession(
    one: AcpSession,
    editor: Editor,
  ): Pick<AcpSession, "id"> & ReturnType<typeof getChoices> {
    setImmediate(() => {
      announce(one, editor, capabilities).catch((error: Error) => stderr.write(`${error.message}\n`));
    });
    return { id: one.id, ...getChoices(one) };
  }

  return (
    agent({ name: "capstan" })
      .onRequest(methods.agent.initialize, ({ params }) => {
        capabilities = params.clientCapabilities ?? {};
        return initializeResponse;
      })
      // There is nothing to sign in to: the keys of providers are in the environment.
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
          // Also aborted when the editor is gone: what it began is then put down, not stopped.
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
          configOptions: getConfigOptions(await sessions.setOption(params)).configOptions ?? [],
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

const getChoices = (one: AcpSession) => ({ ...getModes(one), ...getConfigOptions(one) });

import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { escapeTerminal } from "../terminal/escape-terminal.ts";
import { availableCommands } from "./commands.ts";
import type { AcpSession } from "./open-session.ts";
import type { Editor } from "./prompt-turn.ts";

/** Creates the editor at the other end of a connection. */
export function createEditor(client: AgentContext): Editor {
  return {
    update: (sessionId, update) => client.notify(methods.client.session.update, { sessionId, update }),
    async ask(request, cancellationSignal) {
      const waiting = { cancellationSignal, stopWaitingOnCancel: true };
      return (await client.request(methods.client.session.requestPermission, request, waiting)).outcome;
    },
  };
}

/** Announces the commands and notices of a session. Editors without notices get them with the first answer. */
export async function announce(
  session: AcpSession,
  editor: Editor,
  { session: abilities }: ClientCapabilities,
): Promise<void> {
  const tell = (update: SessionUpdate) => editor.update(session.id, update);
  await tell({ sessionUpdate: "available_commands_update", availableCommands: [...availableCommands] });
  if (!abilities?.notices) return;
  for (const title of session.notices)
    await tell({ sessionUpdate: "notice", severity: "warning", title: escapeTerminal(title) });
  session.notices = [];
}

/** Sends the notices at the start of an answer. */
export async function sendNotices(session: AcpSession, editor: Editor): Promise<void> {
  const { notices } = session;
  session.notices = [];
  const text = notices.map((notice) => `> ${escapeTerminal(notice).replaceAll("\n", " ")}\n\n`).join("");
  if (text === "") return;
  const content = { type: "text" as const, text };
  await editor.update(session.id, { sessionUpdate: "agent_message_chunk", content, messageId: "notices" });
}

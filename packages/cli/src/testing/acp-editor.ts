import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  methods,
  type NewSessionResponse,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { type CliProcess, type ScratchProject, startCli } from "./cli-process.ts";

/** An editor that has started `capstan acp`, as the SDK's client. */
export interface AcpEditor {
  readonly cli: CliProcess;
  readonly agent: ClientConnection["agent"];
  /** All notifications it received, in order. */
  readonly notifications: SessionNotification[];
  /** All permission requests it received. */
  readonly permissionRequests: RequestPermissionRequest[];
  getUpdates(sessionId: string): readonly SessionUpdate[];
  /** What the agent has said, without what it thought. */
  getText(sessionId: string): string;
  createSession(): Promise<string>;
  prompt(sessionId: string, getText: string): Promise<string>;
  /** Closes stdin, as an editor does that leaves; gives what the command left with. */
  leave(): Promise<number | string>;
}

export type EditorOptions = {
  readonly flags?: readonly string[];
  /** The option the user chooses. Default: the first. */
  choose?(request: RequestPermissionRequest): RequestPermissionResponse | Promise<RequestPermissionResponse>;
  readonly notices?: boolean;
};

/** Starts it, and says hello. */
export async function startEditor(
  project: Pick<ScratchProject, "folder" | "env">,
  { flags = [], choose, notices = false }: EditorOptions = {},
): Promise<AcpEditor> {
  const cli = startCli(["acp", ...flags], project);
  const told: SessionNotification[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      if (choose) return choose(params);
      return { outcome: { outcome: "selected", optionId: params.options[0]?.optionId ?? "" } };
    });
  // The process reads its output too: as text, which the SDK gets as bytes.
  const output = new Readable({ read: () => undefined });
  cli.child.stdout.on("data", (text: string) => output.push(Buffer.from(text)));
  cli.child.stdout.on("end", () => output.push(null));
  const input = Writable.toWeb(cli.child.stdin);
  const stream = ndJsonStream(input, Readable.toWeb(output) as ReadableStream<Uint8Array>);
  const { agent } = app.connect(stream);
  const clientCapabilities = notices ? { session: { notices: {} } } : {};
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
  const updates = (sessionId: string) =>
    told.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  return {
    ...{ cli, agent, notifications: told, permissionRequests: asked, getUpdates: updates },
    getText: (sessionId) => collectAgentText(updates(sessionId)),
    async createSession() {
      const request = { cwd: project.folder, mcpServers: [] };
      return (await agent.request<NewSessionResponse>(methods.agent.session.new, request)).sessionId;
    },
    async prompt(sessionId, text) {
      const prompt = [{ type: "text" as const, text }];
      const request = { sessionId, prompt };
      return (await agent.request<PromptResponse>(methods.agent.session.prompt, request)).stopReason;
    },
    leave() {
      cli.child.stdin.end();
      return cli.exit;
    },
  };
}

/** The agent's text in a list of updates. */
export function collectAgentText(updates: readonly SessionUpdate[]): string {
  return updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? update.content.text
        : "",
    )
    .join("");
}

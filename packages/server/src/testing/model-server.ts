import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ModelMessage = { readonly role: string; readonly content?: unknown };

/** A text, which with `isOpen` never ends, or calls. */
export type ModelReply =
  | { readonly text: string; readonly isOpen?: boolean }
  | { readonly calls: readonly { readonly name: string; readonly input: object }[] };

/** A provider on a loopback port that speaks OpenAI's chat completions. */
export interface ModelServer {
  readonly url: string;
  /** The messages of each request. */
  readonly requests: (readonly ModelMessage[])[];
  /** Counts the requests whose response is neither complete nor aborted by the client. */
  countOpen(): number;
  close(): Promise<void>;
}

/** Answers as `reply` says, or with 503 where it returns nothing. */
export async function startModelServer(
  reply: (messages: readonly ModelMessage[]) => ModelReply | undefined,
): Promise<ModelServer> {
  const requests: (readonly ModelMessage[])[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    open.add(response);
    response.on("close", () => open.delete(response));
    const { messages } = JSON.parse(await readRequestText(request));
    requests.push(messages);
    sendReply(response, reply(messages));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    countOpen: () => open.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequestText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const bytes of request) text += bytes;
  return text;
}

function sendReply(response: ServerResponse, reply: ModelReply | undefined): void {
  if (!reply) return void response.writeHead(503).end();
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  if ("text" in reply) send({ content: reply.text });
  else
    send({
      tool_calls: reply.calls.map(({ name, input }, index) => ({
        index,
        id: `call_${index}`,
        function: { name, arguments: JSON.stringify(input) },
      })),
    });
  if ("text" in reply && reply.isOpen) return;
  send({}, "text" in reply ? "stop" : "tool_calls");
  response.end("data: [DONE]\n\n");
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a client has sent: the messages of a chat completion, and the tools it offers. */
export type ChatRequest = {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
};

/** An answer: a text, calls of tools, the beginning of a text that never ends, or an error. */
export type Reply =
  /** `image` is a data URL. */
  | { readonly text: string; readonly reasoning?: string; readonly image?: string }
  | { readonly calls: readonly { readonly name: string; readonly input: unknown }[] }
  | { readonly beginning: string }
  | { readonly status: number };

/** A server that speaks OpenAI's chat completions, on loopback. */
export interface FakeChatServer extends AsyncDisposable {
  /** For `OLLAMA_HOST`: its models need no key. */
  readonly host: string;
  readonly requests: ChatRequest[];
  /** What is answered next; the last one stays. */
  replies: Reply[];
  /** Resolves when this many requests have arrived. */
  waitForRequests(count: number): Promise<void>;
  /** Counts the requests whose response is neither complete nor aborted by the client. */
  countOpen(): number;
}

/** Starts it. */
export async function startFakeChatServer(): Promise<FakeChatServer> {
  const requests: ChatRequest[] = [];
  const waiting: { readonly count: number; resolve(): void }[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    open.add(response);
    response.on("close", () => open.delete(response));
    void readRequestText(request).then((body) => {
      requests.push(JSON.parse(body) as ChatRequest);
      const reply = fake.replies.length > 1 ? fake.replies.shift() : fake.replies[0];
      sendReply(response, reply ?? { text: "Nothing." });
      for (const one of waiting) if (requests.length >= one.count) one.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fake: FakeChatServer = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    replies: [],
    waitForRequests: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    countOpen: () => open.size,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

async function readRequestText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function sendReply(response: ServerResponse, reply: Reply): void {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "Not now." } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  if ("beginning" in reply) {
    send({ role: "assistant", content: reply.beginning });
    return;
  }
  if ("text" in reply && reply.reasoning) send({ reasoning_content: reply.reasoning });
  if ("text" in reply && reply.image) send({ images: [{ image_url: { url: reply.image } }] });
  if ("text" in reply) send({ role: "assistant", content: reply.text });
  else
    send({
      role: "assistant",
      tool_calls: reply.calls.map(({ name, input }, index) => ({
        index,
        id: `call_${index}_${Date.now()}`,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      })),
    });
  send({}, "text" in reply ? "stop" : "tool_calls");
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

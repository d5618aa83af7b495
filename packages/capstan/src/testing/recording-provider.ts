import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../base/json.ts";
import type { Model } from "../kernel/model.ts";
import { anthropic } from "../models/anthropic.ts";
import { gemini } from "../models/gemini.ts";
import { openai } from "../models/openai.ts";
import type { WireName } from "../models/wire-request.ts";
import {
  anthropicEncoder,
  type Encoder,
  geminiEncoder,
  openAiChatEncoder,
  openAiResponsesEncoder,
} from "./wire-encoders.ts";

/** A request as its bytes arrived. */
export type ReceivedRequest = {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** What the provider does with a request: fail with a status, or answer with text and calls. */
export type ProviderMove =
  | { readonly status: number }
  | { readonly text?: string; readonly calls?: readonly { readonly name: string; readonly input: Json }[] };

export type RecordingProvider = {
  /** In the order of their arrival. */
  readonly received: ReceivedRequest[];
  createModel(wire: WireName): Model;
  close(): Promise<void>;
};

export const providerKey = "sk-test-0123456789abcdef";

/** Starts a provider on the loopback interface that speaks all four wires and keeps every byte it gets. */
export async function startRecordingProvider(
  answer: (request: ReceivedRequest) => ProviderMove,
): Promise<RecordingProvider> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = `http://${request.headers.host}${request.url}`;
    const arrived = { url, headers: request.headers, body: Buffer.concat(chunks).toString("utf8") };
    received.push(arrived);
    const move = answer(arrived);
    if ("status" in move) {
      response.writeHead(move.status, { "content-type": "application/json" });
      response.end('{"error":{"message":"try again"}}');
      return;
    }
    const calls = (move.calls ?? []).map(({ name, input }, index) => ({
      id: `call_${received.length}_${index}`,
      name,
      arguments: JSON.stringify(input),
    }));
    const speech = { ...(move.text !== undefined && { text: move.text }), calls };
    const { body, end } = findEncoder(url).encode({ ...speech, id: String(received.length) });
    response.writeHead(200, { "content-type": "text/event-stream" }).end(body + end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}`;
  return {
    received,
    createModel: (wire) => createWireModel(wire, address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function findEncoder(url: string): Encoder {
  if (url.endsWith("/chat/completions")) return openAiChatEncoder;
  if (url.endsWith("/responses")) return openAiResponsesEncoder;
  return url.endsWith("/messages") ? anthropicEncoder : geminiEncoder;
}

function createWireModel(wire: WireName, baseURL: string): Model {
  const headers = { "x-tenant-token": "tenant-secret-42" };
  const options = { model: `m-${wire}`, apiKey: providerKey, baseURL, headers, circuit: false } as const;
  switch (wire) {
    case "openai-chat":
      return openai({ ...options, api: "chat" });
    case "openai-responses":
      return openai({ ...options, api: "responses" });
    case "anthropic":
      return anthropic(options);
    case "gemini":
      return gemini(options);
  }
}

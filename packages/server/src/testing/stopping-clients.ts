import { CancelTaskRequest, SendMessageRequest, type StreamResponse } from "@a2a-js/sdk";
import { type Client as A2aClient, ClientFactory } from "@a2a-js/sdk/client";
import { HttpAgent } from "@ag-ui/client";
import Anthropic from "@anthropic-ai/sdk";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { DefaultChatTransport, type UIMessage } from "ai";
import { createClient } from "capstan/client";
import OpenAI from "openai";
import { vi } from "vitest";
import { PlainChat } from "./plain-chat.ts";

/** The client of a protocol, as its users use it. */
export interface StoppingClient {
  /** Sends a message, and resolves when the client shows text of the answer. */
  begin(text: string): Promise<void>;
  /** Stops the answer. */
  stop(): Promise<unknown>;
  /** Sends a message and returns the text of its answer. */
  ask(text: string): Promise<string>;
  /** The text of each message, if the client shows a conversation. */
  listTexts?(): readonly string[];
}

const polling = { timeout: 30_000, interval: 5 };

export function createChat(id: string, api: string): PlainChat {
  return new PlainChat({ id, transport: new DefaultChatTransport({ api }) });
}

export const joinText = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** How an application lets its users stop an answer: see "Stop an answer" in the documentation of the protocols. */
export type StopMethod = "route" | "disconnect" | "query";

export function createUiChat(
  url: string,
  method: StopMethod = "route",
): StoppingClient & { readonly chat: PlainChat } {
  const api = `${url}/api/ui/chat`;
  const chat = createChat("chat-1", method === "query" ? `${api}?onDisconnect=stop` : api);
  const listTexts = () => chat.messages.map(joinText);
  return {
    chat,
    async begin(text) {
      const count = chat.messages.length + 2;
      void chat.sendMessage({ text });
      await vi.waitUntil(() => chat.messages.length === count && listTexts().at(-1), polling);
    },
    async stop() {
      if (method === "route") await fetch(`${api}/${chat.id}/stop`, { method: "POST" });
      await chat.stop();
    },
    async ask(text) {
      await chat.sendMessage({ text });
      if (chat.error) throw chat.error;
      return listTexts().at(-1) ?? "";
    },
    listTexts,
  };
}

export function createAgUi(url: string, method: StopMethod = "route"): StoppingClient {
  const query = method === "query" ? "?onDisconnect=stop" : "";
  const agent = new HttpAgent({ url: `${url}/ag-ui${query}`, threadId: "thread-1" });
  const listTexts = () => agent.messages.map(({ content }) => String(content));
  const send = (text: string) => {
    agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    return agent.runAgent();
  };
  return {
    async begin(text) {
      void send(text);
      await vi.waitUntil(() => agent.messages.at(-1)?.role === "assistant" && listTexts().at(-1), polling);
    },
    async stop() {
      if (method === "route") await fetch(`${agent.url}/${agent.threadId}/stop`, { method: "POST" });
      agent.abortRun();
    },
    async ask(text) {
      await send(text);
      return listTexts().at(-1) ?? "";
    },
    listTexts,
  };
}

export function createChatCompletions(url: string): StoppingClient {
  const openai = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 });
  const messages: { role: "user" | "assistant"; content: string }[] = [];
  let stop = () => undefined as unknown;
  return {
    async begin(text) {
      messages.push({ role: "user", content: text });
      const stream = await openai.chat.completions.create({ model: "helper", messages, stream: true });
      stop = () => stream.controller.abort();
      const chunks = stream[Symbol.asyncIterator]();
      let content = "";
      while (!content) content = (await chunks.next()).value?.choices[0]?.delta.content ?? "";
      messages.push({ role: "assistant", content });
    },
    stop: async () => stop(),
    async ask(text) {
      messages.push({ role: "user", content: text });
      const { choices } = await openai.chat.completions.create({ model: "helper", messages });
      return choices[0]?.message.content ?? "";
    },
  };
}

export function createMessages(url: string): StoppingClient {
  const anthropic = new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 0 });
  const base = { model: "helper", max_tokens: 1000 };
  const messages: { role: "user" | "assistant"; content: string }[] = [];
  let stop = () => undefined as unknown;
  return {
    async begin(text) {
      messages.push({ role: "user", content: text });
      const stream = anthropic.messages.stream({ ...base, messages });
      stop = () => stream.abort();
      stream.done().catch(() => undefined); // rejects when it is stopped
      await new Promise((resolve) => stream.once("text", resolve));
      messages.push({ role: "assistant", content: collectText(stream.currentMessage?.content) });
    },
    stop: async () => stop(),
    async ask(text) {
      messages.push({ role: "user", content: text });
      return collectText((await anthropic.messages.create({ ...base, messages })).content);
    },
  };
}

const collectText = (blocks: readonly Anthropic.ContentBlock[] = []): string =>
  blocks.map((block) => (block.type === "text" ? block.text : "")).join("");

export function createResponses(url: string): StoppingClient {
  const openai = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 });
  let previous_response_id: string | undefined;
  let stop = () => undefined as unknown;
  return {
    async begin(text) {
      const stream = await openai.responses.create({ model: "helper", input: text, stream: true });
      stop = () => stream.controller.abort();
      // The iterator is not closed, because the SDK then aborts the request.
      const events = stream[Symbol.asyncIterator]();
      for (let type = ""; type !== "response.output_text.delta"; ) {
        const { value: event } = await events.next();
        if (event?.type === "response.created") previous_response_id = event.response.id;
        type = event?.type ?? "";
      }
    },
    stop: async () => stop(),
    async ask(input) {
      const asked = { model: "helper", input, ...(previous_response_id && { previous_response_id }) };
      return (await openai.responses.create(asked)).output_text;
    },
  };
}

/** Stops with `CancelTask`. */
export function createA2a(url: string): StoppingClient {
  let connected: Promise<A2aClient> | undefined;
  const connect = () => (connected ??= new ClientFactory().createFromUrl(url));
  let task = { id: "", contextId: "" };
  const toRequest = (text: string) => {
    const { contextId } = task;
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
    return SendMessageRequest.fromJSON({ message: { ...message, ...(contextId && { contextId }) } });
  };
  return {
    async begin(text) {
      const stream = (await connect()).sendMessageStream(toRequest(text));
      for (let payload: StreamResponse["payload"]; payload?.$case !== "artifactUpdate"; ) {
        payload = (await stream.next()).value?.payload;
        if (payload?.$case === "task") task = payload.value;
      }
    },
    stop: async () => (await connect()).cancelTask(CancelTaskRequest.fromJSON({ id: task.id })),
    async ask(text) {
      const answer = await (await connect()).sendMessage(toRequest(text));
      const parts = "artifacts" in answer ? (answer.artifacts[0]?.parts ?? []) : [];
      return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
    },
  };
}

/** Stops by cancelling the tool call. Its user sees no text before the result: `waitForText` waits for it elsewhere. */
export function createMcp(url: string, waitForText: () => Promise<unknown>): StoppingClient {
  const client = new Client({ name: "test", version: "1" });
  const stopping = new AbortController();
  const query = (prompt: string, options = {}) =>
    client.callTool({ name: "query", arguments: { prompt, sessionId: "talk" } }, options);
  return {
    async begin(text) {
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      query(text, { signal: stopping.signal }).catch(() => undefined); // rejects when it is stopped
      await waitForText();
    },
    stop: async () => stopping.abort(),
    async ask(text) {
      const { structuredContent } = await query(text);
      return (structuredContent as { readonly answer: string }).answer;
    },
  };
}

/** The client of this project. */
export function createOwn(url: string): StoppingClient {
  const { runs } = createClient({ baseURL: url });
  let run = { runId: "", sessionId: "" };
  return {
    async begin(input) {
      run = await runs.start({ input });
      for await (const event of runs.events(run.runId)) if (event.type === "content_delta") return;
    },
    stop: () => runs.cancel(run.runId),
    async ask(input) {
      const { runId } = await runs.start({ input, sessionId: run.sessionId });
      for await (const event of runs.events(runId)) if (event.type === "done") return event.text;
      return "";
    },
  };
}

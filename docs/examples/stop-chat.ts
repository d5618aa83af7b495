// Stops an answer of `useChat`: the server ends the model call, keeps the partial answer, and answers the next message.
import { createServer, listen } from "@capstan/server";
import { AbstractChat, type ChatState, DefaultChatTransport, type UIMessage } from "ai";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([{ text: "Once upon a time", hang: true }, { text: "It is noon." }]);
const server = await listen(createServer({ agents: [defineAgent({ name: "helper", model })] }), { port: 0 });
const api = `${server.url}/api/ui/chat`;

/** What `useChat` returns, without React. */
class Chat extends AbstractChat<UIMessage> {
  constructor() {
    const state: ChatState<UIMessage> = {
      status: "ready",
      error: undefined,
      messages: [],
      pushMessage: (message) => void state.messages.push(message),
      popMessage: () => void state.messages.pop(),
      replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
      snapshot: (value) => structuredClone(value),
    };
    super({ transport: new DefaultChatTransport({ api }), state });
  }
}
const chat = new Chat();

async function stopAnswer(): Promise<void> {
  await fetch(`${api}/${chat.id}/stop`, { method: "POST" });
  await chat.stop();
}

const getText = ({ parts }: UIMessage): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

void chat.sendMessage({ text: "Tell me a story." });
while (chat.messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
await stopAnswer();
await chat.sendMessage({ text: "What time is it?" });
for (const message of chat.messages) console.log(`${message.role}: ${getText(message)}`);
await server.close();

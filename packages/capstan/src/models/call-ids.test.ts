import { describe, expect, it } from "vitest";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import type { AssistantEntry, Entry } from "../kernel/history.ts";
import type { Chunk, ModelRequest } from "../kernel/model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { withDistinctCallIds } from "./distinct-call-ids.ts";
import { toPrompt } from "./from-ai-sdk/ai-sdk-prompt.ts";
import { geminiContent } from "./gemini-content.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";

/** A gateway puts the thought signature of another provider into its ids. */
const signedId = `call_1__thought__${"Abc+/=".repeat(500)}`;
const compatible = createChatWire({});
const mistral = createChatWire({ name: "mistral", callIds: "nine" });

const chatAnswer = (id: string) => ({
  choices: [
    {
      message: { tool_calls: [{ id, type: "function", function: { name: "pay", arguments: "{}" } }] },
      finish_reason: "tool_calls",
    },
  ],
});
const responsesAnswer = (id: string) => ({
  status: "completed",
  output: [{ type: "function_call", id: "fc_1", call_id: id, name: "pay", arguments: "{}" }],
});
const anthropicAnswer = (id: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "tool_use", id, name: "pay", input: {} }],
  stop_reason: "tool_use",
});

/** The history after a call, as the runtime stores it: with its own id, and the provider's if that differs. */
function toHistory(chunks: readonly Chunk[]): readonly Entry[] {
  const message = createMessageBuilder((_, index) => `call_1_${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  const entry: AssistantEntry = { type: "assistant", parts: buildParts(message) };
  const result: Entry = { type: "result", callId: "call_1_0", name: "pay", status: "ok", content: "Paid." };
  return [{ type: "user", content: "Pay." }, entry, result];
}

/** The ids of the call and of its result in the request. */
function findSentIds(wire: Wire, history: readonly Entry[]): readonly string[] {
  const request: ModelRequest = {
    instructions: "",
    history: JSON.parse(JSON.stringify(history)),
    tools: [],
    toolChoice: "auto",
    thinking: false,
  };
  const body = wire.toRequest(request, { model: "m", stream: false });
  const ids: string[] = [];
  JSON.parse(body, (key, value) => {
    const isId = key === "call_id" || key === "tool_use_id" || key === "tool_call_id";
    if (isId || (key === "id" && value !== "fc_1")) ids.push(value);
    return value;
  });
  return ids;
}

const geminiAnswer = (id: string) => ({
  candidates: [
    { content: { parts: [{ functionCall: { id, name: "pay", args: {} } }] }, finishReason: "STOP" },
  ],
});

/** Lets the provider make a call in two turns, and returns the ids of both calls and of their results. */
function findRepeatedIds(wire: Wire, answer: object): readonly string[] {
  const history = ["call_1", "call_1~2"].flatMap((id) => {
    const message = createMessageBuilder(() => id);
    for (const chunk of wire.fromJson(answer)) addChunk(message, chunk);
    const result: Entry = { type: "result", callId: id, name: "pay", status: "ok", content: "Paid." };
    return [
      { type: "user" as const, content: "Pay." },
      { type: "assistant" as const, parts: buildParts(message) },
      result,
    ];
  });
  return findSentIds(wire, history);
}

describe("a call id that a provider repeats in a later turn", () => {
  it.each<[string, Wire, object]>([
    ["chat completions", openAiChat, chatAnswer("call_1")],
    ["chat completions, with a signature", compatible, chatAnswer(signedId)],
    ["Mistral's chat completions", mistral, chatAnswer("functions.pay:0")],
    ["responses", openAiResponses, responsesAnswer("call_1")],
    ["responses, with a signature", openAiResponses, responsesAnswer(signedId)],
    ["messages", anthropicMessages, anthropicAnswer("call_1")],
    ["Gemini", geminiContent, geminiAnswer("call_1")],
  ])("is sent once; each result has the id of its call: %s", (_, wire, answer) => {
    const [first, firstResult, second, secondResult] = findRepeatedIds(wire, answer);
    expect([firstResult, secondResult]).toEqual([first, second]);
    expect(second).not.toBe(first);
  });

  it("is sent once through the AI SDK", () => {
    const call = { type: "call" as const, name: "pay", input: {} };
    const history: readonly Entry[] = [
      { type: "assistant", parts: [{ ...call, id: "call_1" }] },
      { type: "result", callId: "call_1", name: "pay", status: "ok", content: "Paid." },
      { type: "assistant", parts: [{ ...call, id: "call_1~2", providerId: "call_1" }] },
      { type: "result", callId: "call_1~2", name: "pay", status: "ok", content: "Paid." },
    ];
    const request = { instructions: "", history, tools: [], toolChoice: "auto" as const, thinking: false };
    const ids = JSON.stringify(toPrompt(request, { version: "v2", provider: "p" })).match(
      /(?<="toolCallId":")[^"]+/g,
    );
    expect(ids).toEqual(["call_1", "call_1", "call_1~2", "call_1~2"]);
  });

  it("is the same text in every request, so that the provider's cache holds", () => {
    const history: readonly Entry[] = ["call_1", "call_1~2"].map((id) => ({
      type: "assistant",
      parts: [{ type: "call", id, name: "pay", input: {}, ...(id !== "call_1" && { providerId: "call_1" }) }],
    }));
    expect(withDistinctCallIds(history)[1]).toBe(withDistinctCallIds(history)[1]);
    expect(withDistinctCallIds(history.slice(0, 1))).toEqual(history.slice(0, 1));
  });
});

describe("a call id that only its server accepts", () => {
  it.each<[string, Wire, (id: string) => object, string]>([
    ["chat completions", compatible, chatAnswer, signedId],
    ["Mistral's chat completions", mistral, chatAnswer, "functions.pay:0"],
    ["responses", openAiResponses, responsesAnswer, signedId],
    ["messages", anthropicMessages, anthropicAnswer, "functions.pay:0"],
  ])("goes back unchanged on the wire that issued it: %s", (_, wire, answer, id) => {
    const history = toHistory(wire.fromJson(answer(id)));
    expect(findSentIds(wire, history)).toEqual([id, id]);
  });

  it.each<[string, Wire, RegExp]>([
    ["chat completions", openAiChat, /^.{1,40}$/],
    ["Mistral's chat completions", mistral, /^[a-z0-9]{9}$/i],
    ["responses", openAiResponses, /^.{1,64}$/],
    ["messages", anthropicMessages, /^[\w-]+$/],
  ])("is rewritten for another provider: %s", (_, wire, form) => {
    const [call, result] = findSentIds(wire, toHistory(compatible.fromJson(chatAnswer(signedId))));
    expect(call).toMatch(form);
    expect(result).toBe(call);
  });

  it("is kept beside a signature that arrives later in the stream", () => {
    const reader = compatible.reader();
    const pieces = [
      { index: 0, id: signedId, function: { name: "pay", arguments: "" } },
      { index: 0, function: { arguments: "{}" }, extra_content: { google: { thought_signature: "s" } } },
    ];
    const chunks = [
      ...pieces.map((piece) => ({ choices: [{ index: 0, delta: { tool_calls: [piece] } }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ].flatMap((payload) => [...reader.read({ data: JSON.stringify(payload) })]);
    const history = toHistory(chunks);
    expect(findSentIds(compatible, history)).toEqual([signedId, signedId]);
    expect(JSON.stringify(history)).toContain("thought_signature");
  });

  it("is not sent twice in one message", () => {
    const answer = chatAnswer(signedId);
    const [choice] = answer.choices;
    const [call] = choice?.message.tool_calls ?? [];
    if (!choice || !call) throw new Error("No call.");
    choice.message.tool_calls.push({ ...call, function: { name: "pay", arguments: '{"amount":2}' } });
    const ids = findSentIds(compatible, toHistory(compatible.fromJson(answer)));
    expect(ids).toEqual([signedId, "call_1_1", signedId]);
  });
});

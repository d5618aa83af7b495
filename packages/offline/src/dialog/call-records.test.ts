import { defineAgent, defineTool, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { describe, expect, it } from "vitest";
import { offline } from "../offline.ts";

const text = { type: "string" } as const;

const send = defineTool({
  name: "send_letter",
  description: "Sends a letter.",
  input: { type: "object", properties: { to: text, text }, required: ["to", "text"] },
  examples: [{ phrase: "send {to} the words {text}" }],
  needsApproval: true,
  execute: ({ to }) => `Sent to ${to}.`,
});
const find = defineTool({
  name: "find_letters",
  description: "Finds letters.",
  input: { type: "object", properties: { query: text }, required: ["query"] },
  examples: [{ phrase: "{query}" }],
  effects: "none",
  execute: () => "None.",
});

/** Says one thing after the other. Every call that is asked about is denied. */
async function talk(...sentences: readonly string[]) {
  const agent = defineAgent({ name: "clerk", model: offline(), tools: [send, find] });
  const options = { store: memory(), session: "s" };
  const heard: { readonly calls: readonly unknown[]; readonly asked: number }[] = [];
  for (const sentence of sentences) {
    const running = run(agent, sentence, options);
    let result = await running;
    let asked = 0;
    while (result.status === "waiting") {
      asked += result.pending.length;
      for (const { callId } of result.pending) running.deny(callId, "Not now.");
      result = await running;
    }
    heard.push({ calls: result.toolCalls.map(({ name, input }) => [name, input]), asked });
  }
  return heard;
}

describe("a denied call", () => {
  const call = ["send_letter", { to: "Ada", text: "good day" }];

  it.each([
    "do it",
    "ok do it anyway",
    "yes",
    "Yes, please do it!",
    "please do it",
    "try again",
    "ok, try it again",
    "go ahead",
  ])("is called once more, exactly, and asked about again: %s", async (sentence) => {
    const [, second, third] = await talk("Send Ada the words good day", sentence, sentence);
    expect(second).toEqual({ calls: [call], asked: 1 });
    expect(third).toEqual({ calls: [call], asked: 1 });
  });

  it("is dropped when the user says something else", async () => {
    const [, second] = await talk("Send Ada the words good day", "frost in May");
    expect(second?.calls).toEqual([["find_letters", { query: "frost in May" }]]);
  });
});

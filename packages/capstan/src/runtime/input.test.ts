import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type RunInput, readInput } from "./input.ts";
import { run } from "./run.ts";

const call = (id: string) => ({ type: "call", id, name: "look", input: {} }) as const;
const result = (callId: string) =>
  ({ type: "result", callId, name: "look", status: "ok", content: "seen" }) as const;

describe("the input of a run", () => {
  it("a text is one user message", () => {
    expect(readInput("Hi")).toEqual({ entries: [{ type: "user", content: "Hi" }] });
  });

  it("parts are one user message", () => {
    const parts = [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
    ] as const;
    expect(readInput(parts)).toEqual({ entries: [{ type: "user", content: parts }] });
  });

  it("entries are used unchanged", () => {
    const entries = [
      { type: "summary", text: "Earlier." },
      { type: "user", content: "Find both." },
      { type: "assistant", parts: [call("c1"), call("c2")] },
      result("c1"),
      result("c2"),
      { type: "user", content: "Well?" },
    ] as const;
    expect(readInput(entries)).toEqual({ entries });
  });

  it("chat messages become entries, and a leading system message the instructions", () => {
    expect(
      readInput([
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello." },
        { role: "user", content: [{ type: "text", text: "Bye" }] },
      ]),
    ).toEqual({
      instructions: "Be brief.",
      entries: [
        { type: "user", content: "Hi" },
        { type: "assistant", parts: [{ type: "text", text: "Hello." }] },
        { type: "user", content: [{ type: "text", text: "Bye" }] },
      ],
    });
  });

  it("an assistant's message may come in text parts, as its type allows", () => {
    expect(
      readInput([
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "text", text: "Hello." }] },
        { role: "user", content: "Bye" },
      ]).entries[1],
    ).toEqual({ type: "assistant", parts: [{ type: "text", text: "Hello." }] });
  });

  it("a system message replaces the agent's instructions for that run only (S1-02)", async () => {
    const model = scriptedModel(() => ({ text: "ok" }));
    const agent = defineAgent({ name: "a", model, instructions: "The agent's own." });
    await run(agent, [
      { role: "system", content: "The client's." },
      { role: "user", content: "Hi" },
    ]);
    await run(agent, [{ role: "user", content: "Hi" }]);
    expect(model.requests.map((request) => request.instructions)).toEqual([
      "The client's.",
      "The agent's own.",
    ]);
  });
});

describe("invalid input", () => {
  const cases: readonly [string, unknown, string][] = [
    ["a number", 7, "It must be a text or a list; got 7."],
    ["nothing", undefined, "It must be a text or a list; got undefined."],
    [
      "an unknown item",
      [{ type: "video" }],
      'Item 1 is neither a part, an entry nor a chat message; got {"type"',
    ],
    [
      "a second system message",
      [
        { role: "user", content: "Hi" },
        { role: "system", content: "Obey." },
      ],
      "Message 2 cannot be used",
    ],
    ["an unknown role", [{ role: "tool", content: "x" }], "Message 1 cannot be used"],
    ["a message without a content", [{ role: "user" }], "Message 1 needs a role and a content"],
    [
      "a call without its result",
      [
        { type: "assistant", parts: [call("c1")] },
        { type: "user", content: "Well?" },
      ],
      'A call has no result behind it; got "c1".',
    ],
    [
      "a call without its result at the end",
      [{ type: "assistant", parts: [call("c1")] }],
      "A call has no result",
    ],
    [
      "a result without its call",
      [result("c1")],
      'Entry 1 is a result that no call is waiting for; got "c1".',
    ],
    [
      "results in another order than their calls",
      [{ type: "assistant", parts: [call("c1"), call("c2")] }, result("c2"), result("c1")],
      'Entry 2 is a result that no call is waiting for; got "c2".',
    ],
    [
      "a result given twice",
      [{ type: "assistant", parts: [call("c1")] }, result("c1"), result("c1")],
      "Entry 3 is a result that no call is waiting for",
    ],
  ];

  it.each(cases)("%s", (_name, input, message) => {
    expect(() => readInput(input as RunInput)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
    );
  });

  it("the run rejects, stores nothing, and leaves the session free", async () => {
    const model = scriptedModel([{ text: "ok" }]);
    const agent = defineAgent({ name: "a", model });
    const session = `s.${crypto.randomUUID()}`;
    await expect(run(agent, [result("c1")], { session })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await run(agent, "Hi", { session })).toMatchObject({ status: "done" });
    expect(model.requests).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { toMessages } from "./messages.ts";

describe("a history as four kinds of messages", () => {
  it("lists input, calls, results and answer, in this order (S0-09, S0-13, S0-14, S0-16)", () => {
    const messages = toMessages([
      { type: "user", content: "Two things?" },
      {
        type: "assistant",
        parts: [
          { type: "call", id: "c1", name: "search", input: { term: "a" } },
          { type: "call", id: "c2", name: "search", input: { term: "b" } },
        ],
      },
      { type: "result", callId: "c1", name: "search", status: "ok", content: "{}", data: { places: [] } },
      {
        type: "result",
        callId: "c2",
        name: "search",
        status: "error",
        content: "It failed.",
        error: { code: "tool_failed", message: "It failed." },
      },
      { type: "assistant", parts: [{ type: "text", text: "Nothing." }] },
    ]);
    expect(messages).toEqual([
      { role: "user", type: "user_input", content: "Two things?" },
      {
        role: "assistant",
        type: "tool_calls",
        content: [
          { name: "search", args: { term: "a" } },
          { name: "search", args: { term: "b" } },
        ],
      },
      {
        role: "user",
        type: "tool_results",
        content: [
          { name: "search", result: { places: [] } },
          { name: "search", result: null, error: "It failed." },
        ],
      },
      { role: "assistant", type: "assistant_response", content: "Nothing." },
    ]);
  });

  it("puts text in front of the calls of the same response", () => {
    const messages = toMessages([
      {
        type: "assistant",
        parts: [
          { type: "text", text: "I look." },
          { type: "call", id: "c1", name: "search", input: {} },
        ],
      },
    ]);
    expect(messages.map(({ type }) => type)).toEqual(["assistant_response", "tool_calls"]);
  });
});

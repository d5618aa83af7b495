import { describe, expect, it } from "vitest";
import { correctEstimate, createContextSize, estimateRequestTokens, measureHistory } from "./context-size.ts";
import type { AssistantPart, Entry } from "./history.ts";
import { estimateEntryTokens, estimateTextTokens, estimateTokens } from "./history.ts";

const userEntry = (content: string): Entry => ({ type: "user", content });

describe("the token estimate", () => {
  it.each([
    ["nothing", "", 0],
    ["English", "The quick brown fox jumps over it.", 9],
    ["German", "Größere Größen überprüfen wir später.", 10],
    ["Russian", "Быстрая лиса прыгает через него.", 15],
    ["Chinese", "敏捷的狐狸跳过了它", 9],
    ["Japanese", "すばやい狐", 5],
    ["Korean", "빠른 여우", 5],
    ["an emoji", "😀", 2],
  ])("of %s", (_, text, tokens) => {
    expect(estimateTextTokens(text)).toBe(tokens);
  });

  it("counts an image and a file as a constant, whatever their bytes", () => {
    const image = (data: string): Entry => ({
      type: "user",
      content: [{ type: "image", mediaType: "image/png", data }],
    });
    expect(estimateEntryTokens(image("a"))).toBe(estimateEntryTokens(image("a".repeat(1_000_000))));
    expect(
      estimateEntryTokens({ type: "user", content: [{ type: "file", mediaType: "application/pdf" }] }),
    ).toBe(5004);
  });

  it("counts generated media only if they are sent back", () => {
    const media = { type: "media", mediaType: "image/png", handle: "blob_1" } as const;
    const estimate = (part: AssistantPart) => estimateEntryTokens({ type: "assistant", parts: [part] });
    expect([estimate(media), estimate({ ...media, opaque: "four" })]).toEqual([8, 1506]);
  });

  it("counts text, reasoning, calls and opaque data", () => {
    const text = "four".repeat(10);
    const parts = [
      { type: "text", text },
      { type: "reasoning", text, opaque: text },
      { type: "call", id: "1", name: "look", input: { text } },
      { type: "opaque", data: text },
    ] as const;
    const sizes = parts.map((part) => estimateEntryTokens({ type: "assistant", parts: [part] }));
    expect(sizes).toEqual([14, 25, 18, 15]);
    expect(estimateEntryTokens({ type: "assistant", parts })).toBe(14 + 25 + 18 + 15 - 3 * 4);
    expect(estimateEntryTokens({ type: "summary", text })).toBe(14);
  });
});

describe("the size of a context", () => {
  it("is the provider's last count plus an estimate of newer entries", () => {
    const history = [userEntry("a".repeat(400)), userEntry("b".repeat(40))];
    const state = { history, context: createContextSize() };
    expect(estimateRequestTokens(state)).toBe(estimateTokens(history));
    measureHistory(state, 2);
    correctEstimate(state, { inputTokens: 900, outputTokens: 5 });
    history.push(userEntry("c".repeat(40)));
    expect(estimateRequestTokens(state, [userEntry("d".repeat(40))])).toBe(900 + 14 + 14);
  });

  it.each([
    ["an estimate", { inputTokens: 9, outputTokens: 1, estimated: true }, 1004],
    ["implausibly low", { inputTokens: 9, outputTokens: 1 }, 251],
  ])("ignores a count that is %s", (_, usage, tokens) => {
    const state = { history: [userEntry("a".repeat(4000))], context: createContextSize() };
    measureHistory(state, 1);
    correctEstimate(state, usage);
    expect(estimateRequestTokens(state)).toBe(tokens);
  });
});

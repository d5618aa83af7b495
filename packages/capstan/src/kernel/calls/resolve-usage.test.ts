import { describe, expect, it } from "vitest";
import type { Usage } from "../model.ts";
import { createState } from "../state.ts";
import { createMessageBuilder } from "./message-builder.ts";
import { resolveUsage } from "./resolve-usage.ts";

/** A message of `size` characters that came with this usage, after a history of two entries. */
function resolveTestUsage(usage: Usage | undefined, size = 0) {
  const state = createState("ses");
  state.history.push({ type: "user", content: "x".repeat(100) }, { type: "summary", text: "y" });
  return resolveUsage({ ...createMessageBuilder(() => ""), usage, size }, state, "m");
}

describe("the usage of a model call", () => {
  it.each<Usage>([
    { inputTokens: 10, outputTokens: 5 },
    { inputTokens: 0, outputTokens: 0 },
    { inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2, cost: 0.01 },
  ])("is what the provider tells: %j", (usage) => {
    expect(resolveTestUsage(usage)).toEqual({ usage, warnings: [] });
  });

  it("is estimated at four characters per token with a warning when the provider reports none (F36)", () => {
    // {"type":"user","content":"…"} has 27 characters beside its content, {"type":"summary","text":"y"} has 29.
    expect(resolveTestUsage(undefined, 9)).toEqual({
      usage: { inputTokens: Math.ceil((127 + 1 + 29) / 4), outputTokens: 3, estimated: true },
      warnings: [
        {
          type: "warning",
          code: "usage_estimated",
          message: "The model reported no usage figures; using an estimate.",
        },
      ],
    });
  });

  it.each<Usage>([
    { inputTokens: -1, outputTokens: 5 },
    { inputTokens: 10, outputTokens: Number.NaN },
    { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 5 },
    { inputTokens: 1e12, outputTokens: 5 },
    { inputTokens: 10, outputTokens: 5, cost: -3 },
    { inputTokens: "10" as unknown as number, outputTokens: 5 },
  ])("is estimated when the figures are unusable, so that no budget goes down: %j (F36)", (usage) => {
    const estimate = resolveTestUsage(usage, 8);
    expect(estimate.usage).toMatchObject({ outputTokens: 2, estimated: true });
    expect(estimate.usage.inputTokens).toBeGreaterThan(0);
    expect(estimate.warnings).toMatchObject([
      { code: "usage_estimated", message: expect.stringContaining("unusable") },
    ]);
  });
});

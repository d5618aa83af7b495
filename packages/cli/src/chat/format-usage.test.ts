import { describe, expect, it } from "vitest";
import { formatUsageLine } from "./format-usage.ts";

const format = (usage: object) =>
  formatUsageLine({ inputTokens: 1200, outputTokens: 30, ...usage }, 1000, { tokens: 10 });

describe("the usage line", () => {
  it("shows what was read from and written to the provider's cache", () => {
    expect(format({ cachedTokens: 1000, cacheWriteTokens: 150, cost: 0.5 })).toBe(
      "1.2k in (1k cached, 150 written to the cache) · 30 out · $0.50 · 1.0 s · context 10",
    );
  });

  it("says that a cost is unknown, wholly or in part, and nothing where there is none", () => {
    expect(format({ unpriced: true })).toContain(" · cost unknown · ");
    expect(format({ unpriced: true, cost: 0.5 })).toContain(" · $0.50 and more (a price is unknown) · ");
    expect(format({})).toBe("1.2k in · 30 out · 1.0 s · context 10");
  });
});

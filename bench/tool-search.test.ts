import { expect, it } from "vitest";
import { readCatalog, readSentences } from "./tool-search/catalog.ts";
import { formatToolSearchReport, measureToolSearch, readPageTables } from "./tool-search.ts";

it("the measurement of tool search has 500 tools and 200 sentences about them", () => {
  const names = new Set(readCatalog({}).map(({ name }) => name));
  const sentences = readSentences();
  expect([names.size, sentences.length]).toEqual([500, 200]);
  for (const { tool, query, text } of sentences) {
    expect(names).toContain(tool);
    expect([text, query]).not.toContain("");
  }
});

it("the measurement of tool search finds what the page says, and counts the tokens on it", async () => {
  const sentences = readSentences().slice(0, 16);
  const results = await measureToolSearch(sentences);
  expect(results.ranks.queries.filter((rank) => rank >= 0)).toHaveLength(16);
  expect(results.ranks.sentences).toHaveLength(16);
  expect(results.offline.all).toBeGreaterThan(8);
  expect(results.offline.deferred).toBeGreaterThan(8);
  const [tokens = ""] = formatToolSearchReport(results).split("\n\n");
  expect(readPageTables().startsWith(tokens)).toBe(true);
});

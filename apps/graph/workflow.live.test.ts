// Whole workflows with real models, for a few cents; live.config.ts says how. A provider without a key is skipped; for
// a local model, OLLAMA_MODEL names one that `ollama list` shows and that can call tools.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, type Result, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { graph } from "./agent.ts";
import { executionResult } from "./ai-events.ts";

const { OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_MODEL } = process.env;
const cats = ["cat1", "cat2", "cat3"];

describe.each([
  { provider: "OpenAI", model: "openai/gpt-5-mini", isThere: OPENAI_API_KEY },
  { provider: "Anthropic", model: "anthropic/claude-haiku-4-5", isThere: ANTHROPIC_API_KEY },
  { provider: "a local model", model: `ollama/${OLLAMA_MODEL}`, isThere: OLLAMA_MODEL },
])("the graph explorer with $provider", ({ model, isThere }) => {
  let folder: string;
  let agent: Agent;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "graph-live-"));
    agent = await graph({ model, folder });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What comes of each sentence of a conversation. */
  async function talk(...sentences: readonly string[]): Promise<Result[]> {
    const options = { store: memory(), session: `ses_${crypto.randomUUID()}` };
    const results: Result[] = [];
    for (const says of sentences) results.push((await run(agent, says, options)).orThrow());
    return results;
  }

  it.skipIf(!isThere)("counts nodes, and then edges when asked what about them (S2-47)", async () => {
    const [nodes, edges] = await talk("How many nodes are there?", "What about the edges?");
    expect(nodes?.text).toContain("20");
    expect(edges?.text).toContain("30");
  });

  it.skipIf(!isThere)("shows what sample nodes have, in its own words (S2-47)", async () => {
    const [result] = await talk("What are some sample nodes? Take three.");
    expect(result?.toolCalls.some(({ name }) => name === "sampleData")).toBe(true);
    expect(result?.text).toMatch(/Whiskers/);
    expect(result?.text).toMatch(/tabby/);
    expect(result?.text).not.toMatch(/"success"|^Returned 3 node samples\.?$/);
  });

  it.skipIf(!isThere)("finds all cats and makes them blue (S2-47)", async () => {
    const [result] = await talk("Find all cats and make them blue");
    if (!result) throw new Error("nothing came back");
    expect(executionResult(result).affectedNodes.toSorted()).toEqual(cats);
    for (const name of ["Whiskers", "Mittens", "Shadow"]) expect(result.text).toContain(name);
  });

  it.skipIf(!isThere)("finds no dogs, says what there is, and goes on with the cats (S2-47)", async () => {
    const [none, done] = await talk("Style all dogs red", "Yes, the cats instead, please.");
    expect(none?.affected).toEqual([]);
    expect(none?.text).toMatch(/cat/i);
    expect(done && executionResult(done).affectedNodes.toSorted()).toEqual(cats);
  });

  it.skipIf(!isThere)("opens another graph and runs an algorithm on it (S2-47)", async () => {
    const [result] = await talk("Open the miserables graph and tell me who has the most connections.");
    expect(result?.toolCalls.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["openGraph", "runAlgorithm"]),
    );
    expect(result?.text).toContain("Valjean");
  });
});

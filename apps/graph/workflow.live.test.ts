// Complete workflows with real models, for a few cents; see live.config.ts. A provider without a key is skipped. For a
// local model, set OLLAMA_MODEL to one from `ollama list` that supports tool calls.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, type Result, run } from "capstan";
import { memory } from "capstan/stores/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { graph } from "./agent.ts";
import { toExecutionResult } from "./ai-events.ts";

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

  /** Returns the result of each sentence. */
  async function runConversation(...sentences: readonly string[]): Promise<Result[]> {
    const options = { store: memory(), session: `ses_${crypto.randomUUID()}` };
    const results: Result[] = [];
    for (const sentence of sentences) results.push((await run(agent, sentence, options)).orThrow());
    return results;
  }

  it.skipIf(!isThere)("counts nodes, then edges in a follow-up question (S2-47)", async () => {
    const [nodes, edges] = await runConversation("How many nodes are there?", "What about the edges?");
    expect(nodes?.text).toContain("20");
    expect(edges?.text).toContain("30");
  });

  it.skipIf(!isThere)("describes sample nodes in its own words (S2-47)", async () => {
    const [result] = await runConversation("What are some sample nodes? Take three.");
    expect(result?.toolCalls.some(({ name }) => name === "sampleData")).toBe(true);
    expect(result?.text).toMatch(/Whiskers/);
    expect(result?.text).toMatch(/tabby/);
    expect(result?.text).not.toMatch(/"success"|^Returned 3 node samples\.?$/);
  });

  it.skipIf(!isThere)("finds all cats and makes them blue (S2-47)", async () => {
    const [result] = await runConversation("Find all cats and make them blue");
    if (!result) throw new Error("no result");
    expect(toExecutionResult(result).affectedNodes.toSorted()).toEqual(cats);
    for (const name of ["Whiskers", "Mittens", "Shadow"]) expect(result.text).toContain(name);
  });

  it.skipIf(!isThere)(
    "finds no dogs, lists the existing types, and continues with the cats (S2-47)",
    async () => {
      const [none, done] = await runConversation("Style all dogs red", "Yes, the cats instead, please.");
      expect(none?.affected).toEqual([]);
      expect(none?.text).toMatch(/cat/i);
      expect(done && toExecutionResult(done).affectedNodes.toSorted()).toEqual(cats);
    },
  );

  it.skipIf(!isThere)("opens another graph and runs an algorithm on it (S2-47)", async () => {
    const [result] = await runConversation(
      "Open the miserables graph and tell me who has the most connections.",
    );
    expect(result?.toolCalls.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["openGraph", "runAlgorithm"]),
    );
    expect(result?.text).toContain("Valjean");
  });
});

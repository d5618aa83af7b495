import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, run } from "capstan";
import { compatible } from "capstan/models";
import { scriptedModel } from "capstan/testing";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { searchKnowledgeBase } from "../tools/search-knowledge-base.ts";
import { findEmbeddingModel } from "./find-embedding-model.ts";
import { fuseRankings } from "./fuse-rankings.ts";
import { searchHybrid } from "./hybrid-search.ts";
import { createLibrary, type LibraryOptions } from "./library.ts";

const files = {
  "felines.md": "# Felines\n\nA feline sleeps for most of the day.",
  "dogs.md": "# Dogs\n\nA dog needs walks, and a nap now and then.",
  "taxes.md": "# Taxes\n\nInvoices are due in May.",
};

/** The words of each dimension. A text is similar to another if they share one. */
const concepts = [/cat|kitten|feline/i, /sleep|nap|rest/i, /dog|puppy/i, /tax|invoice|money/i, /boat/i];
const toVector = (text: string, common: number) => [
  ...concepts.map((words) => (words.test(text) ? 1 : 0)),
  common,
];

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "knowledge-semantic-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An embedding server whose vectors follow from the words of a text. `common` makes all texts similar. */
async function startServer(common = 0.1) {
  const requests: string[][] = [];
  const state = { status: 200 };
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse((await Array.fromAsync(request as AsyncIterable<Buffer>)).join(""));
    requests.push(input);
    response.statusCode = state.status;
    const data = input.map((text: string) => ({ embedding: toVector(text, common) }));
    response.end(JSON.stringify(state.status === 200 ? { data } : { error: { message: "no credit left" } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  // Its own name, so that no vectors are shared between tests.
  const model = compatible({ model: `embedder-${baseURL}`, baseURL });
  return { requests, state, model };
}

function openLibrary({ documents = files, ...options }: LibraryOptions & { documents?: object } = {}) {
  const folder = createFolder();
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(folder, name), text);
  const library = createLibrary({ locations: [folder], indexFolder: false, ...options });
  onTestFinished(async () => (await library.open()).close());
  return library;
}

async function searchDocuments(library: ReturnType<typeof createLibrary>, query: string) {
  const { passages, note } = await searchHybrid(library, { query, limit: 5, progress: () => undefined });
  return { documents: passages.map(({ document }) => document), note };
}

describe("a search by words and meaning", () => {
  it("finds a passage that shares no word with the query, which full text misses", async () => {
    const { model } = await startServer();
    expect(await searchDocuments(openLibrary(), "kitten")).toEqual({ documents: [] });
    expect(await searchDocuments(openLibrary({ embeddings: model }), "kitten")).toEqual({
      documents: ["felines.md"],
    });
  });

  it("puts first what both searches find", async () => {
    const { model } = await startServer();
    const { documents } = await searchDocuments(openLibrary({ embeddings: model }), "nap");
    expect(documents).toEqual(["dogs.md", "felines.md"]);
  });

  it("finds only what stands out, also with a model to which all texts are similar", async () => {
    const { model } = await startServer(1.5);
    const others = Array.from({ length: 40 }, (_, index) => [
      `page-${index}.md`,
      `# Page ${index}\n\nBoats.`,
    ]);
    const documents = { ...Object.fromEntries(others), ...files };
    const library = openLibrary({ documents, embeddings: model });
    expect((await searchDocuments(library, "kitten")).documents).toEqual(["felines.md"]);
  });

  it("embeds the passages once, and in a file that survives the process and only the user can read", async () => {
    const { model, requests } = await startServer();
    const indexFolder = createFolder();
    const library = openLibrary({ embeddings: model, indexFolder });
    await searchDocuments(library, "kitten");
    await searchDocuments(library, "puppy");
    expect(requests.map(({ length }) => length)).toEqual([3, 1, 1]);
    // Passages have no id of the folder in them, so that another folder with the same texts needs no request either.
    const again = openLibrary({ embeddings: model, indexFolder });
    expect((await searchDocuments(again, "feline beds")).documents).toEqual(["felines.md"]);
    expect(requests.slice(3)).toEqual([["feline beds"]]);
    expect(statSync(join(indexFolder, "knowledge-vectors.db")).mode & 0o777).toBe(0o600);
  });

  it("respects the sources of the agent", async () => {
    const { model } = await startServer();
    const library = openLibrary({ embeddings: model });
    const request = { query: "kitten", limit: 5, progress: () => undefined };
    expect((await searchHybrid(library, { ...request, sources: ["packages"] })).passages).toEqual([]);
    expect((await searchHybrid(library, { ...request, sources: ["folder"] })).passages).toHaveLength(1);
  });

  it("falls back to words with a note when the provider fails, and then leaves it alone for a while", async () => {
    const { model, requests, state } = await startServer();
    state.status = 402;
    const library = openLibrary({ embeddings: model });
    const { documents, note } = await searchDocuments(library, "invoices");
    expect(documents).toEqual(["taxes.md"]);
    expect(note).toMatch(/^Searched by words only, because the search by meaning failed: .*no credit left/);
    expect((await searchDocuments(library, "dog")).documents).toEqual(["dogs.md"]);
    expect(requests).toHaveLength(1);
  });

  it("tells the model about the note, in the result of the tool", async () => {
    const { model, state } = await startServer();
    state.status = 401;
    const agent = defineAgent({
      name: "searcher",
      model: scriptedModel([
        { calls: [{ name: "search_knowledge_base", input: { query: "invoices" } }] },
        { text: "In May [1]." },
      ]),
      tools: [searchKnowledgeBase(openLibrary({ embeddings: model }))],
    });
    const { toolCalls } = await run(agent, "When are invoices due?");
    expect(toolCalls).toMatchObject([{ status: "ok" }]);
    expect(String(toolCalls[0]?.result)).toContain('1 passage for \\"invoices\\". Searched by words only');
  });

  it("is chosen by the environment, and without a key there is none", () => {
    expect(findEmbeddingModel({})).toBeUndefined();
    expect(findEmbeddingModel({ ANTHROPIC_API_KEY: "k" })).toBeUndefined();
    expect(findEmbeddingModel({ GEMINI_API_KEY: "k" })).toBe("gemini/gemini-embedding-001");
    expect(findEmbeddingModel({ OPENAI_API_KEY: "k", CAPSTAN_EMBEDDING_MODEL: "off" })).toBeUndefined();
    expect(findEmbeddingModel({ CAPSTAN_EMBEDDING_MODEL: "ollama/nomic-embed-text" })).toBe(
      "ollama/nomic-embed-text",
    );
    expect(openLibrary({ embeddings: findEmbeddingModel({}) }).semantic).toBeUndefined();
  });
});

describe("the fusion of rankings", () => {
  const rankings = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e")), { maxLength: 3 });
  const fuse = (lists: readonly (readonly string[])[]) => fuseRankings(lists, (item) => item);

  it("has every item once, and of one ranking it is that ranking", () => {
    fc.assert(
      fc.property(rankings, (lists) => {
        expect(fuse(lists).toSorted()).toEqual([...new Set(lists.flat())].toSorted());
        for (const list of lists) expect(fuse([list])).toEqual(list);
      }),
    );
  });

  it("prefers an item that is at least as high in every ranking, and higher in one", () => {
    fc.assert(
      fc.property(rankings, (lists) => {
        const getRank = (list: readonly string[], item: string) =>
          list.includes(item) ? list.indexOf(item) : Number.POSITIVE_INFINITY;
        const fused = fuse(lists);
        for (const better of fused)
          for (const worse of fused) {
            const ranks = lists.map((list) => [getRank(list, better), getRank(list, worse)] as const);
            const dominates =
              ranks.every(([left, right]) => left <= right) && ranks.some(([left, right]) => left < right);
            if (dominates) expect(fused.indexOf(better)).toBeLessThan(fused.indexOf(worse));
          }
      }),
    );
  });
});

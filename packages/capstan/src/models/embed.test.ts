import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Json } from "../base/json.ts";
import type { VectorCache } from "../kernel/model.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { azure } from "./azure.ts";
import { compatible } from "./compatible.ts";
import { embed, rerank } from "./embed.ts";
import { memoryVectorCache } from "./embeddings/vector-cache.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import { vertex } from "./vertex.ts";

type Body = { readonly [field: string]: Json };
type Sent = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: Body };
type Handler = (body: Body, count: number, response: ServerResponse) => unknown;

const closers: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) close();
});

/** A server whose handler returns the JSON of the response, or answers itself. */
async function startServer(handle: Handler) {
  const sent: Sent[] = [];
  let [active, maxActive] = [0, 0];
  const server = createServer(async (request, response) => {
    maxActive = Math.max(maxActive, ++active);
    response.on("close", () => active--);
    const text = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join("");
    const body = JSON.parse(text) as Body;
    sent.push({ path: request.url ?? "", headers: request.headers, body });
    const answer = await handle(body, sent.length, response);
    if (answer !== undefined)
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { sent, url, countMaxActive: () => maxActive };
}

/** A vector that identifies its text. */
const toVector = (text: string) => [text.length, text.charCodeAt(0), text.charCodeAt(text.length - 1)];

const answerLikeOpenAi: Handler = ({ input }) => {
  const data = (input as string[]).map((text, index) => ({ index, embedding: toVector(text) }));
  return {
    data: data.toReversed(),
    usage: { prompt_tokens: 10 * data.length, total_tokens: 10 * data.length },
  };
};

const fail =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_body, _count, response) => {
    response.writeHead(status, headers).end(JSON.stringify({ error: { message: "not now" } }));
  };

function createOpenAi(url: string, model = "text-embedding-3-small") {
  const clock = fakeClock({ skipUpToMs: 59_000 });
  return openai({ model, apiKey: "sk-embedding-test", baseURL: url, clock, circuit: false });
}

describe("embeddings", () => {
  it("come in the order of the texts, whatever the order of the answer, with usage and cost", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const { vectors, usage } = await embed(createOpenAi(url), ["one", "three", "two"], { cache: false });
    expect(vectors).toEqual(["one", "three", "two"].map(toVector));
    expect(usage).toMatchObject({ inputTokens: 30, outputTokens: 0 });
    expect(usage.cost).toBeCloseTo((30 * 0.02) / 1e6, 12);
    expect(sent).toMatchObject([
      { path: "/embeddings", body: { model: "text-embedding-3-small", input: ["one", "three", "two"] } },
    ]);
    expect(sent[0]?.headers.authorization).toBe("Bearer sk-embedding-test");
  });

  it("are requested in batches, at most four at a time, and each different text once", async () => {
    const { sent, url, countMaxActive } = await startServer(async (body, count, response) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return answerLikeOpenAi(body, count, response);
    });
    const texts = Array.from({ length: 2000 }, (_, index) => `text ${index % 1500}`);
    const { vectors } = await embed(createOpenAi(url), texts, { cache: false });
    expect(vectors).toEqual(texts.map(toVector));
    expect(sent.map(({ body }) => (body.input as Json[]).length).sort()).toEqual([
      220, 256, 256, 256, 256, 256,
    ]);
    expect(countMaxActive()).toBeLessThanOrEqual(4);
  });

  it("of long texts are requested in smaller batches", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const texts = Array.from({ length: 5 }, (_, index) => `${index}${"x".repeat(90_000)}`);
    await embed(createOpenAi(url), texts, { cache: false });
    expect(sent.map(({ body }) => (body.input as Json[]).length).sort()).toEqual([1, 2, 2]);
  });

  it("of no texts need no request, and a blank text is refused before any is sent", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const usage = { inputTokens: 0, outputTokens: 0 };
    expect(await embed(createOpenAi(url), [])).toEqual({ vectors: [], usage });
    await expect(embed(createOpenAi(url), ["one", " "])).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("Text 1"),
    });
    expect(sent).toEqual([]);
  });
});

describe("the cache of embeddings", () => {
  it("is used by default, by model, dimensions, kind and text", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const model = createOpenAi(url);
    await embed(model, ["cached one", "cached two"]);
    const again = await embed(model, ["cached two", "new one", "cached one"]);
    expect(again.vectors).toEqual(["cached two", "new one", "cached one"].map(toVector));
    expect(again.usage.inputTokens).toBe(10);
    expect(await embed(model, ["new one"])).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 } });
    await embed(model, ["new one"], { dimensions: 3 });
    await embed(model, ["new one"], { kind: "query" });
    await embed(createOpenAi(url, "text-embedding-3-large"), ["new one"]);
    expect(sent.map(({ body }) => body.input)).toEqual([
      ["cached one", "cached two"],
      ...Array(4).fill(["new one"]),
    ]);
  });

  it("can be the caller's, and its keys reveal no text", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const kept = new Map<string, readonly number[]>();
    const cache: VectorCache = {
      get: async (keys) => keys.map((key) => kept.get(key)),
      async set(entries) {
        for (const [key, vector] of entries) kept.set(key, vector);
      },
    };
    for (let count = 0; count < 2; count++)
      expect((await embed(createOpenAi(url), ["mine"], { cache })).vectors).toEqual([toVector("mine")]);
    expect(sent).toHaveLength(1);
    expect([...kept.keys()]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it("keeps finished batches when another fails, so that the next attempt sends only the rest", async () => {
    let isBroken = true;
    const { sent, url } = await startServer((body, count, response) => {
      const isSecond = (body.input as string[]).includes("part 256");
      if (isSecond && isBroken) return setTimeout(() => fail(400)(body, count, response), 50) && undefined;
      return answerLikeOpenAi(body, count, response);
    });
    const cache = memoryVectorCache();
    const texts = Array.from({ length: 300 }, (_, index) => `part ${index}`);
    await expect(embed(createOpenAi(url), texts, { cache })).rejects.toMatchObject({
      code: "model_rejected",
      message: expect.stringContaining(
        "Embedding 44 of 300 texts with openai/text-embedding-3-small failed:",
      ),
    });
    isBroken = false;
    expect((await embed(createOpenAi(url), texts, { cache })).vectors).toEqual(texts.map(toVector));
    expect(sent.map(({ body }) => (body.input as Json[]).length).sort()).toEqual([256, 44, 44].sort());
  });

  it("in memory never exceeds its size and drops what was not used for longest", async () => {
    const keys = fc.constantFrom("a", "b", "c", "d", "e");
    const steps = fc.array(fc.record({ key: keys, isWrite: fc.boolean() }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const cache = memoryVectorCache(6);
        let recent: string[] = [];
        for (const { key, isWrite } of list) {
          const isKept = recent.includes(key);
          if (isWrite) await cache.set([[key, [1, 2]]]);
          else expect(await cache.get([key])).toEqual([isKept ? [1, 2] : undefined]);
          if (isWrite || isKept) recent = [...recent.filter((other) => other !== key), key].slice(-3);
        }
      }),
    );
  });
});

describe("a failing embedding request", () => {
  it("is repeated when the failure passes, after the time that the provider asks for", async () => {
    const { sent, url } = await startServer((body, count, response) =>
      (count < 3 ? fail(count === 1 ? 429 : 503, { "retry-after": "30" }) : answerLikeOpenAi)(
        body,
        count,
        response,
      ),
    );
    const clock = fakeClock({ skipUpToMs: 59_000 });
    const model = openai({ model: "m", apiKey: "k", baseURL: url, clock });
    expect((await embed(model, ["one"], { cache: false })).vectors).toEqual([toVector("one")]);
    expect(sent).toHaveLength(3);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(60_000);
  });

  it("gives up after three attempts, and does not wait for longer than a minute", async () => {
    const busy = await startServer(fail(500));
    await expect(embed(createOpenAi(busy.url), ["one"], { cache: false })).rejects.toMatchObject({
      code: "model_overloaded",
      retryable: true,
    });
    expect(busy.sent).toHaveLength(3);
    const closed = await startServer(fail(429, { "retry-after": "3600" }));
    await expect(embed(createOpenAi(closed.url), ["one"], { cache: false })).rejects.toMatchObject({
      ...{ code: "model_rate_limited", retryAfterMs: 3_600_000 },
    });
    expect(closed.sent).toHaveLength(1);
  });

  it("sends nothing while the circuit of the client is open", async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return new Response("", { status: 500 });
    };
    const model = openai({ model: "circuit", apiKey: "k", clock, fetch });
    const send = () => embed(model, ["one"], { cache: false, signal: abort.signal });
    const sent = Array.from({ length: 5 }, send);
    await expect.poll(() => clock.pending).toBe(5);
    expect(requests).toBe(5);
    sent.push(send());
    await expect.poll(() => clock.pending).toBe(6);
    await clock.advance(1);
    expect(requests).toBe(5);
    abort.abort(new Error("enough"));
    for (const { status } of await Promise.allSettled(sent)) expect(status).toBe("rejected");
  });

  it.each<[string, unknown]>([
    ["1 vectors for 2 texts", [{ embedding: [1, 2] }]],
    ["no vector for text 1", [{ embedding: [1, 2] }, { embedding: [] }]],
    [
      "no vector for text 0",
      [
        { index: 1, embedding: [1, 2] },
        { index: 1, embedding: [1, 2] },
      ],
    ],
    ["values that are not numbers for text 1", [{ embedding: [1, 2] }, { embedding: [1, null] }]],
    ["vectors of different lengths (2, 3)", [{ embedding: [1, 2] }, { embedding: [1, 2, 3] }]],
  ])("is refused if the provider returns %s, without another attempt", async (problem, data) => {
    const { sent, url } = await startServer(() => ({ data }));
    await expect(embed(createOpenAi(url), ["a", "b"], { cache: false })).rejects.toMatchObject({
      code: "embedding_invalid",
      message: expect.stringContaining(problem),
    });
    expect(sent).toHaveLength(1);
  });

  it("is refused if the vectors do not have the requested dimensions", async () => {
    const { url } = await startServer(answerLikeOpenAi);
    const embedding = embed(createOpenAi(url), ["a"], { cache: false, dimensions: 2 });
    await expect(embedding).rejects.toMatchObject({
      message: expect.stringContaining("3 instead of 2 dimensions for text 0"),
    });
  });

  it("ends when the caller aborts it", async () => {
    const { url } = await startServer(() => undefined);
    const abort = new AbortController();
    const embedding = embed(createOpenAi(url), ["a"], { cache: false, signal: abort.signal });
    setTimeout(() => abort.abort(), 10);
    await expect(embedding).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the requests of the providers", () => {
  const options = { cache: false, dimensions: 3, kind: "query" } as const;
  const answerLikeGemini: Handler = ({ requests }) => ({
    embeddings: (requests as Body[]).map(() => ({ values: [1, 2, 3] })),
  });
  const answerLikeVertex: Handler = ({ instances }) => ({
    predictions: (instances as Body[]).map(() => ({
      embeddings: { values: [1, 2, 3], statistics: { token_count: 4 } },
    })),
  });

  it("have the form of Gemini's API, whose usage is estimated", async () => {
    const { sent, url } = await startServer(answerLikeGemini);
    const model = gemini({ model: "gemini-embedding-001", apiKey: "key", baseURL: url });
    expect((await embed(model, ["four"], options)).usage).toMatchObject({ inputTokens: 1, estimated: true });
    expect(sent).toMatchObject([{ path: "/models/gemini-embedding-001:batchEmbedContents" }]);
    expect(sent[0]?.headers["x-goog-api-key"]).toBe("key");
    expect(sent[0]?.body).toEqual({
      requests: [
        {
          model: "models/gemini-embedding-001",
          content: { role: "user", parts: [{ text: "four" }] },
          ...{ taskType: "RETRIEVAL_QUERY", outputDimensionality: 3 },
        },
      ],
    });
  });

  it("have the form of Vertex's API, one text each for Gemini's models", async () => {
    const { sent, url } = await startServer(answerLikeVertex);
    const cloud = { project: "p", location: "global", token: () => "t" };
    const model = gemini({ model: "gemini-embedding-001", baseURL: url, vertex: cloud });
    expect((await embed(model, ["a", "b"], options)).usage).toMatchObject({ inputTokens: 8 });
    expect(sent.map(({ path }) => path)).toEqual(Array(2).fill("/models/gemini-embedding-001:predict"));
    expect(sent.map(({ body }) => body)).toContainEqual({
      instances: [{ content: "a", task_type: "RETRIEVAL_QUERY" }],
      parameters: { outputDimensionality: 3 },
    });
  });

  it("of Azure and Vertex go to the clouds' own URLs", async () => {
    const { sent, url } = await startServer((body, count, response) =>
      (body.instances ? answerLikeVertex : answerLikeOpenAi)(body, count, response),
    );
    const deployed = {
      model: "text-embedding-3-small",
      deployment: "mine",
      baseURL: url,
      apiKey: "azure-key",
    };
    await embed(azure(deployed), ["one"], { cache: false });
    await embed(azure({ ...deployed, apiVersion: "2024-10-21" }), ["one"], { cache: false });
    const google = vertex({ model: "text-embedding-005", baseURL: url, token: () => "t" });
    await embed(google, ["one"], { cache: false });
    expect(sent.map(({ path, body }) => [path, body.model])).toEqual([
      ["/openai/v1/embeddings", "mine"],
      ["/openai/deployments/mine/embeddings?api-version=2024-10-21", "mine"],
      ["/publishers/google/models/text-embedding-005:predict", undefined],
    ]);
    expect(sent.map(({ headers }) => headers["api-key"] ?? headers.authorization)).toEqual([
      ...["azure-key", "azure-key", "Bearer t"],
    ]);
    expect(vertex({ model: "claude-haiku-4-5", baseURL: url, token: () => "t" }).embed).toBeUndefined();
  });

  it.each([
    ["ollama", { dimensions: 3 }],
    ["mistral", { output_dimension: 3 }],
    ["jina", { dimensions: 3, task: "retrieval.query" }],
    ["voyage", { output_dimension: 3, input_type: "query" }],
  ])("have the fields of %s", async (provider, fields) => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    const model = compatible({ provider, model: "m", baseURL: `${url}/v1` });
    await embed(model, ["one"], options);
    expect(sent).toMatchObject([{ path: "/v1/embeddings" }]);
    expect(sent[0]?.body).toEqual({ model: "m", input: ["one"], ...fields });
    expect(sent[0]?.headers.authorization).toBeUndefined();
  });

  const recordings = new URL("../../../../../shared/wire/vercel-ai/", import.meta.url);
  const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, recordings), "utf8"));

  it.skipIf(!existsSync(recordings))("are answered as recorded", async () => {
    const openAi = await startServer(() => read("openai/embedding/openai-embedding.json"));
    const { vectors, usage } = await embed(createOpenAi(openAi.url), ["a", "b"], { cache: false });
    expect(vectors.map((vector) => vector[0])).toEqual([0.0057293195, -0.037104916]);
    expect(usage).toMatchObject({ inputTokens: 12 });
    const google = await startServer(() => read("google-vertex/google-vertex-embedding.json"));
    const model = vertex({ model: "text-embedding-005", baseURL: google.url, token: () => "t" });
    expect(await embed(model, ["a", "b"], { cache: false })).toMatchObject({ usage: { inputTokens: 11 } });
    for (const path of ["cohere/reranking/cohere", "togetherai/reranking/togetherai"]) {
      const server = await startServer(() => read(`${path}-reranking.1.json`));
      const reranker = compatible({ model: "m", baseURL: server.url });
      const { ranking } = await rerank(reranker, { query: "q", documents: ["a", "b", "c", "d", "e", "f"] });
      expect(ranking).toHaveLength(2);
      expect(ranking[0]?.score).toBeGreaterThan(ranking[1]?.score ?? 1);
    }
  });
});

describe("a named embedding model", () => {
  it("is loaded with its key on the first request", async () => {
    const { sent, url } = await startServer(answerLikeOpenAi);
    vi.stubEnv("OPENAI_API_KEY", "sk-named");
    vi.stubEnv("OPENAI_BASE_URL", url);
    const { vectors } = await embed("openai/text-embedding-named", ["one"], { cache: false });
    expect(vectors).toEqual([toVector("one")]);
    expect(sent[0]?.headers.authorization).toBe("Bearer sk-named");
  });

  it("without a key sends nothing and names the variable to set", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    await expect(embed("openai/text-embedding-keyless", ["one"])).rejects.toMatchObject({
      code: "model_auth",
      message: expect.stringContaining("OPENAI_API_KEY"),
    });
  });

  it("of a provider without embeddings is refused", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-ant");
    for (const call of [
      embed("anthropic/claude-haiku-4-5", ["one"]),
      rerank("anthropic/claude-haiku-4-5", { query: "q", documents: ["d"] }),
    ])
      await expect(call).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("reranking", () => {
  const documents = ["apples", "pears", "plums"];
  const start = async (answer: unknown) => {
    const server = await startServer(() => answer);
    const prices = { "here/ranker": { input: 1_000_000, output: 0 } };
    return {
      ...server,
      model: compatible({ provider: "here", model: "ranker", baseURL: server.url, prices }),
    };
  };
  const results = [
    { index: 2, relevance_score: 0.1 },
    { index: 0, relevance_score: 0.9 },
  ];

  it("returns the best documents first, with usage and cost", async () => {
    const { model, sent } = await start({ results, usage: { total_tokens: 7 } });
    const { ranking, usage } = await rerank(model, { query: "fruit", documents }, { top: 2 });
    expect(ranking).toEqual([
      { index: 0, score: 0.9 },
      { index: 2, score: 0.1 },
    ]);
    expect(usage).toEqual({ inputTokens: 7, outputTokens: 0, cost: 7 });
    expect(sent).toMatchObject([
      { path: "/rerank", body: { model: "ranker", query: "fruit", documents, top_n: 2 } },
    ]);
  });

  it("accepts the other forms that servers answer in, and needs no request without documents", async () => {
    const voyage = await start({ data: results });
    expect((await rerank(voyage.model, { query: "q", documents })).ranking).toHaveLength(2);
    const bare = await start([{ index: 1, score: 3 }]);
    expect((await rerank(bare.model, { query: "q", documents })).ranking).toEqual([{ index: 1, score: 3 }]);
    expect(await rerank(bare.model, { query: "q", documents: [] })).toMatchObject({ ranking: [] });
    expect(bare.sent).toHaveLength(1);
  });

  it.each([
    [[]],
    [[{ index: 3, relevance_score: 1 }]],
    [[{ index: 0 }]],
    [[...results, ...results]],
  ])("refuses the ranking %j", async (invalid) => {
    const { model } = await start({ results: invalid });
    await expect(rerank(model, { query: "q", documents })).rejects.toMatchObject({
      code: "embedding_invalid",
    });
  });
});

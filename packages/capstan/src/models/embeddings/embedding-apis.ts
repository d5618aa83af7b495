/*
 * The embedding APIs of the providers, as pure functions.
 *   OpenAI and compatible servers: POST /embeddings { model, input: [text] } → { data: [{ index, embedding }], usage }
 *   Gemini: POST /models/{model}:batchEmbedContents { requests: [{ model, content }] } → { embeddings: [{ values }] }
 *   Vertex: POST …/models/{model}:predict { instances: [{ content }] } → { predictions: [{ embeddings: { values } }] }
 */
import { isRecord, type Json } from "../../base/json.ts";
import type { EmbedOptions } from "../../kernel/model.ts";
import { filterRecords } from "../wire.ts";

export type EmbeddingRequest = Pick<EmbedOptions, "dimensions" | "kind"> & {
  readonly texts: readonly string[];
  readonly model: string;
  /** Provider of a compatible server. */
  readonly provider: string;
};

export type EmbeddingAnswer = {
  /** In the order of the texts; unchecked. */
  readonly vectors: readonly unknown[];
  /** Input tokens, if the provider reports them. */
  readonly tokens?: number | undefined;
};

export type EmbeddingApi = {
  /** Of one request. */
  getMaxTexts(model: string): number;
  readonly maxCharacters: number;
  toBody(request: EmbeddingRequest): Json;
  fromBody(body: unknown): EmbeddingAnswer;
};

/** Fields by which servers differ from OpenAI, which embeds queries and documents alike. */
type Dialect = {
  readonly pattern: RegExp;
  readonly dimensions?: string;
  readonly query?: { readonly [field: string]: string };
  readonly document?: { readonly [field: string]: string };
};

const dialects: readonly Dialect[] = [
  { pattern: /mistral/, dimensions: "output_dimension" },
  { pattern: /jina/, query: { task: "retrieval.query" }, document: { task: "retrieval.passage" } },
  {
    ...{ pattern: /voyage/, dimensions: "output_dimension" },
    ...{ query: { input_type: "query" }, document: { input_type: "document" } },
  },
];

function buildOpenAiBody({ texts, model, provider, dimensions, kind }: EmbeddingRequest): Json {
  const dialect = dialects.find(({ pattern }) => pattern.test(provider));
  return {
    model,
    input: texts,
    ...(dimensions !== undefined && { [dialect?.dimensions ?? "dimensions"]: dimensions }),
    ...(kind && dialect?.[kind]),
  };
}

/** The vectors may come in any order. */
function parseOpenAiBody(body: unknown): EmbeddingAnswer {
  if (!isRecord(body)) return { vectors: [] };
  const vectors: unknown[] = [];
  for (const [position, { index = position, embedding }] of filterRecords(body.data).entries())
    vectors[typeof index === "number" ? index : position] = embedding;
  const { usage } = body;
  return {
    vectors,
    tokens: isRecord(usage) ? toCount(usage.prompt_tokens ?? usage.total_tokens) : undefined,
  };
}

const openai: EmbeddingApi = {
  getMaxTexts: () => 256,
  maxCharacters: 200_000,
  toBody: buildOpenAiBody,
  fromBody: parseOpenAiBody,
};

/** Servers on one machine compute a batch at once. */
const compatible: EmbeddingApi = { ...openai, getMaxTexts: () => 64, maxCharacters: 100_000 };

const taskTypes = { query: "RETRIEVAL_QUERY", document: "RETRIEVAL_DOCUMENT" };

const gemini: EmbeddingApi = {
  getMaxTexts: () => 100,
  maxCharacters: 60_000,
  toBody: ({ texts, model, dimensions, kind }) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { role: "user", parts: [{ text }] },
      ...(kind && { taskType: taskTypes[kind] }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    })),
  }),
  fromBody: (body) => ({
    vectors: filterRecords(isRecord(body) ? body.embeddings : undefined).map(({ values }) => values),
  }),
};

const vertex: EmbeddingApi = {
  // Gemini's embedding models take one text per request there.
  getMaxTexts: (model) => (model.startsWith("gemini") ? 1 : 100),
  maxCharacters: 60_000,
  toBody: ({ texts, dimensions, kind }) => ({
    instances: texts.map((content) => ({ content, ...(kind && { task_type: taskTypes[kind] }) })),
    ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }),
  }),
  fromBody(body) {
    const predictions = filterRecords(isRecord(body) ? body.predictions : undefined);
    const embeddings = predictions.map((prediction) =>
      isRecord(prediction.embeddings) ? prediction.embeddings : {},
    );
    const counts = embeddings.map(({ statistics }) =>
      isRecord(statistics) ? toCount(statistics.token_count) : undefined,
    );
    const tokens = counts.reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    );
    return { vectors: embeddings.map(({ values }) => values), tokens };
  },
};

export type EmbeddingApiName = "openai" | "compatible" | "gemini" | "vertex";

export const embeddingApis: Readonly<Record<EmbeddingApiName, EmbeddingApi>> = {
  ...{ openai, compatible, gemini, vertex },
};

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/*
 * POST /rerank, as Cohere introduced it and Jina, Voyage, Together, LiteLLM, vLLM and llama.cpp have it:
 * { model, query, documents, top_n } → { results: [{ index, relevance_score }], usage }. Voyage answers with `data`,
 * and takes `top_k`.
 */
import { systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { RankedDocument, Reranking, RerankOptions, RerankRequest } from "../../kernel/model.ts";
import { filterRecords } from "../wire.ts";
import { withAttempts } from "../with-attempts.ts";
import type { EmbeddingClient } from "./embedding-model.ts";
import { priceInput, sendJson } from "./send-json.ts";
import { createUnsupportedError } from "./unsupported.ts";

const charactersPerToken = 4;

/** Returns the documents by relevance, the best first. */
export async function rerankDocuments(
  client: EmbeddingClient,
  { query, documents }: RerankRequest,
  { top = documents.length, signal = new AbortController().signal }: RerankOptions = {},
): Promise<Reranking> {
  const { rerankUrl, id, settings, clock = systemClock } = client;
  if (!rerankUrl) throw createUnsupportedError(id, "reranking");
  if (documents.length === 0) return { ranking: [], usage: { inputTokens: 0, outputTokens: 0 } };
  const topField = /voyage/.test(id) ? "top_k" : "top_n";
  const body = { model: settings.model, query, documents, [topField]: Math.min(top, documents.length) };
  const answer = await withAttempts(clock, signal, () =>
    sendJson(client, { url: rerankUrl(), body, signal }),
  );
  const tokens = findTokens(answer);
  const characters = documents.reduce((sum, text) => sum + text.length, query.length);
  const usage =
    tokens === undefined
      ? { inputTokens: Math.ceil(characters / charactersPerToken), estimated: true }
      : { inputTokens: tokens };
  return {
    ranking: readRanking(answer, documents.length, id).slice(0, top),
    usage: await priceInput(client, usage),
  };
}

function readRanking(answer: unknown, count: number, id: string): readonly RankedDocument[] {
  const list = isRecord(answer) ? (answer.results ?? answer.data) : answer;
  const seen = new Set<number>();
  const ranking = filterRecords(list).map((result): RankedDocument => {
    const { index, relevance_score: score = result.score } = result;
    const isKnown = Number.isInteger(index) && Number(index) >= 0 && Number(index) < count;
    if (!isKnown || !Number.isFinite(score) || seen.has(Number(index)))
      throw createDocumentsError(`${id} ranked a document that was not sent, twice, or without a score.`);
    seen.add(Number(index));
    return { index: Number(index), score: Number(score) };
  });
  if (ranking.length === 0) throw createDocumentsError(`${id} ranked no document.`);
  return ranking.sort((left, right) => right.score - left.score);
}

function findTokens(answer: unknown): number | undefined {
  const usage = isRecord(answer) && isRecord(answer.usage) ? answer.usage : {};
  const tokens = usage.prompt_tokens ?? usage.total_tokens;
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}

function createDocumentsError(message: string): AgentError {
  return new AgentError("embedding_invalid", message);
}

import { systemClock } from "../../base/clock.ts";
import { AgentError, describeThrown, type ErrorCode } from "../../base/errors.ts";
import type { Embeddings, EmbedOptions, Vector } from "../../kernel/model.ts";
import { getProvider } from "../providers.ts";
import { withAttempts } from "../with-attempts.ts";
import { type EmbeddingApi, embeddingApis } from "./embedding-apis.ts";
import type { EmbeddingClient } from "./embedding-model.ts";
import { priceInput, sendJson } from "./send-json.ts";
import { computeVectorKey, sharedCache } from "./vector-cache.ts";

const maxConcurrency = 4;
const charactersPerToken = 4;

/** A text that is not in the cache, with its key. */
type MissingText = { readonly key: string; readonly text: string };

type EmbedContext = {
  readonly client: EmbeddingClient;
  readonly options: EmbedOptions;
  readonly signal: AbortSignal;
  /** Number of texts of the caller. */
  readonly total: number;
};

/**
 * Returns one vector per text, in order. Texts in the cache are not sent, equal texts only once. The rest is sent in
 * batches, a few at a time; when one fails for good, the others are aborted, and finished ones stay in the cache.
 */
export async function embedTexts(
  client: EmbeddingClient,
  texts: readonly string[],
  options: EmbedOptions = {},
): Promise<Embeddings> {
  checkTexts(texts);
  const { cache = sharedCache } = options;
  const keys = await Promise.all(texts.map((text) => computeVectorKey(client.id, text, options)));
  const found = new Map<string, Vector>();
  for (const [index, vector] of (cache ? await cache.get(keys) : []).entries())
    if (vector) found.set(keys[index] ?? "", vector);
  const missing = new Map(
    texts.map((text, index) => [keys[index] ?? "", text] as const).filter(([key]) => !found.has(key)),
  );
  const failed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failed.signal]) : failed.signal;
  const context: EmbedContext = { client, options, signal, total: texts.length };
  const batches = splitBatches(missing, embeddingApis[client.embeddings.api], client.settings.model).values();
  let [inputTokens, isEstimated] = [0, false];
  async function work(): Promise<void> {
    for (const batch of batches) {
      const { vectors, tokens } = await embedBatch(context, batch);
      const entries = batch.map(({ key }, index) => [key, vectors[index] ?? []] as const);
      for (const [key, vector] of entries) found.set(key, vector);
      inputTokens += tokens ?? estimateInputTokens(batch);
      isEstimated ||= tokens === undefined;
      if (cache) await cache.set(entries);
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(maxConcurrency, missing.size) }, work));
  } finally {
    failed.abort();
  }
  const vectors = keys.map((key) => found.get(key) ?? []);
  checkLengths(vectors, client.id);
  return {
    vectors,
    usage: await priceInput(client, { inputTokens, ...(isEstimated && { estimated: true }) }),
  };
}

function checkTexts(texts: readonly string[]): void {
  const index = texts.findIndex((text) => typeof text !== "string" || text.trim() === "");
  if (index !== -1)
    throw new AgentError(
      "invalid_input",
      `Text ${index} cannot be embedded: it must be a text that is not blank.`,
    );
}

function splitBatches(
  missing: ReadonlyMap<string, string>,
  api: EmbeddingApi,
  model: string,
): readonly (readonly MissingText[])[] {
  const batches: MissingText[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const [key, text] of missing) {
    const last = batches.at(-1);
    characters += text.length;
    if (last && last.length < api.getMaxTexts(model) && characters <= api.maxCharacters)
      last.push({ key, text });
    else {
      batches.push([{ key, text }]);
      characters = text.length;
    }
  }
  return batches;
}

async function embedBatch(
  { client, options, signal, total }: EmbedContext,
  batch: readonly MissingText[],
): Promise<{ readonly vectors: readonly Vector[]; readonly tokens: number | undefined }> {
  const api = embeddingApis[client.embeddings.api];
  const url = client.embeddings.url();
  const { dimensions, kind } = options;
  const body = api.toBody({
    texts: batch.map(({ text }) => text),
    ...{ model: client.embeddings.model ?? client.settings.model, provider: getProvider(client.id) },
    ...(dimensions !== undefined && { dimensions }),
    ...(kind && { kind }),
  });
  try {
    return await withAttempts(client.clock ?? systemClock, signal, async () => {
      const { vectors, tokens } = api.fromBody(await sendJson(client, { url, body, signal }));
      return { vectors: checkVectors(vectors, batch.length, dimensions), tokens };
    });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    throw createBatchError(thrown, `${batch.length} of ${total} texts with ${client.id}`);
  }
}

/** Vectors that are wrong would find wrong documents without any other sign. */
function checkVectors(
  vectors: readonly unknown[],
  count: number,
  dimensions: number | undefined,
): readonly Vector[] {
  if (vectors.length !== count) throw createInvalidError(`${vectors.length} vectors for ${count} texts`);
  return Array.from(vectors, (vector, index) => {
    if (!Array.isArray(vector) || vector.length === 0)
      throw createInvalidError(`no vector for text ${index}`);
    if (!vector.every((number) => Number.isFinite(number)))
      throw createInvalidError(`a vector with values that are not numbers for text ${index}`);
    if (dimensions !== undefined && vector.length !== dimensions)
      throw createInvalidError(`${vector.length} instead of ${dimensions} dimensions for text ${index}`);
    return vector as Vector;
  });
}

function checkLengths(vectors: readonly Vector[], id: string): void {
  const lengths = [...new Set(vectors.map(({ length }) => length))];
  if (lengths.length > 1)
    throw createInvalidError(`vectors of different lengths (${lengths.join(", ")}) from ${id}`);
}

function createInvalidError(problem: string): AgentError {
  return new AgentError("embedding_invalid", `The provider returned ${problem}.`);
}

function createBatchError(thrown: unknown, what: string): AgentError {
  const { code, message, retryable, retryAfterMs } = describeThrown(thrown, "model_failed");
  return new AgentError(code as ErrorCode, `Embedding ${what} failed: ${message}`, {
    ...{ retryable, cause: thrown },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function estimateInputTokens(batch: readonly MissingText[]): number {
  return Math.ceil(batch.reduce((sum, { text }) => sum + text.length, 0) / charactersPerToken);
}

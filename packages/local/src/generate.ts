// The decoding loop: evaluates the prompt in batches, then one token at a time. Stops at the next token when the signal
// is aborted; a batch of the prompt that is being evaluated finishes in the background before its sequence is reused.
import type { TokenLogprob } from "capstan";
import type { LlamaContextSequence, LlamaGrammarEvaluationState, LlamaModel, Token } from "node-llama-cpp";
import type { Utf8Guard } from "./engine/utf8-guard.ts";

export type Sampling = {
  readonly temperature: number;
  readonly topP: number;
  readonly seed?: number | undefined;
  /** How many alternatives to report per token; undefined for none. */
  readonly logprobs?: number | undefined;
};

export type GenerateOptions = {
  readonly sequence: LlamaContextSequence;
  /** Tokens that the sequence has not evaluated yet. */
  readonly tokens: readonly Token[];
  readonly sampling: Sampling;
  readonly grammar?: LlamaGrammarEvaluationState | undefined;
  readonly guard?: Utf8Guard | undefined;
  readonly signal: AbortSignal;
};

export type GeneratedToken = { readonly token: Token; readonly logprob?: TokenLogprob };

/** Yields the generated tokens up to the model's end of the answer. Rejects if the signal is aborted. */
export async function* generateTokens(options: GenerateOptions): AsyncGenerator<GeneratedToken, void, void> {
  const { sequence, tokens, signal, sampling } = options;
  const { batchSize } = sequence.context;
  let start = 0;
  for (; tokens.length - start > batchSize; start += batchSize) {
    signal.throwIfAborted();
    await sequence.evaluateWithoutGeneratingNewTokens([...tokens.slice(start, start + batchSize)]);
  }
  const { guard, grammar } = options;
  const evaluated = sequence.evaluateWithMetadata(
    [...tokens.slice(start)],
    { confidence: sampling.logprobs !== undefined, probabilities: (sampling.logprobs ?? 0) > 0 },
    {
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: 0,
      minP: 0,
      ...(sampling.seed !== undefined && { seed: sampling.seed }),
      ...(grammar && { grammarEvaluationState: grammar }),
      ...(guard && { tokenBias: () => guard.getBias() }),
    },
  );
  for await (const output of evaluated as AsyncIterable<EvaluatedToken>) {
    const { token } = output;
    signal.throwIfAborted();
    guard?.accept(token);
    yield sampling.logprobs === undefined
      ? { token }
      : {
          token,
          logprob: toLogprob(sequence.model, output, sampling.logprobs),
        };
  }
}

/** The metadata is there if it was requested. */
type EvaluatedToken = {
  readonly token: Token;
  readonly confidence?: number;
  readonly probabilities?: ReadonlyMap<Token, number>;
};

function toLogprob(
  model: LlamaModel,
  { token, confidence = 1, probabilities }: EvaluatedToken,
  count: number,
): TokenLogprob {
  const format = (one: Token, probability: number) => ({
    token: model.detokenize([one], true),
    logprob: Math.log(Math.max(probability, Number.MIN_VALUE)),
  });
  if (!probabilities) return format(token, confidence);
  const best = [...probabilities].toSorted(([, a], [, b]) => b - a).slice(0, count);
  return { ...format(token, confidence), top: best.map(([one, probability]) => format(one, probability)) };
}

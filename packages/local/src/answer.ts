import { AgentError, type Chunk, type ModelRequest, type ModelSettings, type StopReason } from "capstan";
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { buildAnswerGrammar } from "./chat/answer-grammar.ts";
import { type AnswerReader, createAnswerReader } from "./chat/answer-reader.ts";
import { toText } from "./chat/chat-format.ts";
import { toChat } from "./chat/chat-history.ts";
import { planThought } from "./chat/thought.ts";
import type { LoadedModel } from "./engine/load-model.ts";
import { countCommon } from "./engine/sequence-pool.ts";
import { createTextDecoder } from "./engine/text-decoder.ts";
import { generateTokens, type Sampling } from "./generate.ts";

export type AnswerContext = {
  readonly request: ModelRequest;
  readonly settings: ModelSettings;
  readonly signal: AbortSignal;
};

/** A request as tokens, and how to read the answer. */
type Plan = {
  readonly tokens: readonly Token[];
  /** Undefined if any text will do. Called again without reasoning when its budget is used up. */
  buildGrammar(thought: "open" | "optional" | "none"): string | undefined;
  readonly thought: "open" | "optional" | "none";
  readonly thoughtBudget: number;
  readonly reader: AnswerReader;
  readonly maxTokens: number;
};

/** Answers a request: streams chunks and ends with `usage` and `finish`. Rejects as soon as the signal is aborted. */
export async function* streamAnswer(
  loaded: LoadedModel,
  context: AnswerContext,
): AsyncGenerator<readonly Chunk[], void, void> {
  const { signal, settings } = context;
  const plan = planAnswer(loaded, context);
  const sequence = await loaded.pool.acquire(plan.tokens, signal);
  const steps = runPlan(loaded, plan, { sequence, sampling: toSampling(settings), signal, settings });
  const aborted = rejectWhenAborted(signal);
  let step: Promise<IteratorResult<readonly Chunk[], void>> | undefined;
  try {
    for (;;) {
      step = steps.next();
      const { value, done } = await Promise.race([step, aborted.promise]);
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    aborted.dispose();
    // A batch that is being evaluated cannot be interrupted: the sequence is free when it is done.
    const released = releaseAfter(step, steps).then(() => loaded.pool.release(sequence));
    if (!signal.aborted) await released;
  }
}

async function releaseAfter(
  step: Promise<unknown> | undefined,
  steps: AsyncGenerator<unknown>,
): Promise<void> {
  await step?.catch(() => undefined);
  await steps.return(undefined).catch(() => undefined);
}

function rejectWhenAborted(signal: AbortSignal): { readonly promise: Promise<never>; dispose(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return { promise, dispose: () => signal.removeEventListener("abort", abort) };
}

function planAnswer(loaded: LoadedModel, { request, settings }: AnswerContext): Plan {
  const { library, model, wrapper, format, pool } = loaded;
  const { history, functions } = toChat(request, format);
  const { contextText, stopGenerationTriggers } = wrapper.generateContextState({
    chatHistory: history,
    documentFunctionParams: true,
    ...(functions && { availableFunctions: functions }),
  });
  const { mode, budget, suffix } = planThought(format, toText(contextText), {
    effort: settings.effort,
    thinking: request.thinking,
  });
  const prompt = library.LlamaText([contextText, new library.SpecialTokensText(suffix)]);
  const tokens = prompt.tokenize(model.tokenizer);
  const room = pool.contextSize - tokens.length - 1;
  if (room < 1) {
    const message = `The request has ${tokens.length} tokens, the context of ${model.filename ?? "the model"} ${pool.contextSize}. Raise contextSize, or shorten the conversation.`;
    throw new AgentError("context_overflow", message);
  }
  const stops = [settings.stop ?? []].flat();
  const ends = stopGenerationTriggers.map(toText).filter((text) => text.trim() !== "");
  return {
    tokens,
    thought: mode,
    thoughtBudget: budget,
    buildGrammar: (thought) =>
      buildAnswerGrammar({
        format,
        tools: request.tools,
        toolChoice: request.toolChoice,
        parallelToolCalls: settings.parallelToolCalls ?? true,
        output: request.output,
        thought,
      }),
    reader: createAnswerReader({
      format,
      hasTools: request.tools.length > 0 && request.toolChoice !== "none",
      startsInThought: mode === "open",
      stops: [...stops, ...ends],
    }),
    maxTokens: Math.min(room, request.maxOutputTokens ?? settings.maxOutputTokens ?? Infinity),
  };
}

function toSampling({ temperature = 0.7, topP = 0.95, seed, logprobs }: ModelSettings): Sampling {
  const alternatives = logprobs === true ? 0 : logprobs === false ? undefined : logprobs;
  return { temperature, topP, seed, logprobs: alternatives };
}

type RunContext = {
  readonly sequence: LlamaContextSequence;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  readonly settings: ModelSettings;
};

async function* runPlan(
  loaded: LoadedModel,
  plan: Plan,
  { sequence, sampling, signal, settings }: RunContext,
): AsyncGenerator<readonly Chunk[], void, void> {
  const { model, format, library } = loaded;
  const { reader, maxTokens } = plan;
  const cachedTokens = await reuseTokens(
    sequence,
    settings.cache === "off" ? [] : plan.tokens,
    plan.tokens.length,
  );
  let [outputTokens, reasoningTokens] = [0, 0];
  let next: readonly Token[] = plan.tokens.slice(cachedTokens);
  let thought = plan.thought;
  let stop: StopReason | undefined;
  while (stop === undefined) {
    const grammar = plan.buildGrammar(thought);
    const decode = createTextDecoder(model);
    let isOverBudget = false;
    const generated = generateTokens({
      sequence,
      tokens: next,
      sampling,
      signal,
      ...(grammar !== undefined && {
        grammar: await loaded.createGrammar(grammar),
        guard: loaded.createGuard(),
      }),
    });
    for await (const { token, logprob } of generated) {
      outputTokens++;
      if (reader.isThinking) reasoningTokens++;
      const chunks = [...reader.push(decode.push(token))];
      if (logprob) chunks.push({ type: "logprobs", tokens: [logprob] });
      yield chunks;
      isOverBudget = reader.isThinking && reasoningTokens >= plan.thoughtBudget;
      if (reader.isStopped) stop = "end";
      else if (outputTokens >= maxTokens) stop = "length";
      if (stop !== undefined || isOverBudget) break;
    }
    if (stop === undefined && isOverBudget && format.thought) {
      // The model has reasoned enough: close the reasoning for it, and continue with the answer.
      const closing = `\n${format.thought.suffix}\n\n`;
      yield reader.push(closing);
      next = library.LlamaText([new library.SpecialTokensText(closing)]).tokenize(model.tokenizer);
      thought = "none";
      continue;
    }
    stop ??= "end";
    yield reader.push(decode.end());
  }
  yield [
    ...reader.end(),
    {
      type: "usage",
      usage: {
        inputTokens: plan.tokens.length,
        outputTokens,
        ...(cachedTokens > 0 && { cachedTokens }),
        ...(reasoningTokens > 0 && { reasoningTokens }),
      },
    },
    { type: "finish", reason: stop === "end" && reader.callCount > 0 ? "tool_calls" : stop },
  ];
}

/** Keeps the tokens that the sequence shares with the request, and erases the rest. Returns how many it kept. */
async function reuseTokens(
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
  total: number,
): Promise<number> {
  // At least one token has to be evaluated for the first prediction.
  const kept = Math.min(countCommon(sequence, tokens), total - 1);
  if (kept === 0) await sequence.clearHistory();
  else if (kept < sequence.nextTokenIndex)
    await sequence.eraseContextTokenRanges([{ start: kept, end: sequence.nextTokenIndex }]);
  return kept;
}

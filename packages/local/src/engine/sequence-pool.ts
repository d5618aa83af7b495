import { AgentError } from "capstan";
import type { LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import { createMemoryError } from "./load-file.ts";
import type { Library } from "./load-library.ts";

/** The parallel conversations of one loaded model. Each keeps the tokens of its last request, so that the next is short. */
export type SequencePool = {
  /** Waits for a free sequence, first come, first served; of several, the one with the longest common start. */
  acquire(tokens: readonly Token[], signal: AbortSignal): Promise<LlamaContextSequence>;
  release(sequence: LlamaContextSequence): void;
  readonly contextSize: number;
};

export type SequencePoolOptions = {
  readonly file: string;
  readonly contextSize?: number | undefined;
  /** How many requests run at once; fewer if memory is short. */
  readonly parallel: number;
};

export async function createSequencePool(
  library: Library,
  model: LlamaModel,
  options: SequencePoolOptions,
): Promise<SequencePool> {
  const context = await createContext(library, model, options);
  const free = Array.from({ length: context.totalSequences }, () => context.getSequence());
  const waiting: { readonly tokens: readonly Token[]; take(sequence: LlamaContextSequence): void }[] = [];
  const take = (tokens: readonly Token[]): LlamaContextSequence | undefined => {
    const [best] = free.toSorted((left, right) => countCommon(right, tokens) - countCommon(left, tokens));
    if (best) free.splice(free.indexOf(best), 1);
    return best;
  };
  return {
    contextSize: context.contextSize,
    async acquire(tokens, signal) {
      const sequence = take(tokens);
      if (sequence) return sequence;
      return new Promise((resolve, reject) => {
        const request = { tokens, take: resolve };
        waiting.push(request);
        const abandon = () => {
          const index = waiting.indexOf(request);
          if (index < 0) return;
          waiting.splice(index, 1);
          reject(new AgentError("aborted", "The request was cancelled while it waited for the local model."));
        };
        if (signal.aborted) abandon();
        signal.addEventListener("abort", abandon, { once: true });
      });
    },
    release(sequence) {
      const next = waiting.shift();
      if (next) next.take(sequence);
      else free.push(sequence);
    },
  };
}

export function countCommon(sequence: LlamaContextSequence, tokens: readonly Token[]): number {
  return sequence.compareContextTokens([...tokens]).firstDifferentIndex;
}

/** Without `contextSize`: as many tokens as the model supports and the memory allows, up to this. */
const defaultContextSize = 16_384;

/** Halves the number of parallel requests until the context fits. */
async function createContext(
  { InsufficientMemoryError }: Library,
  model: LlamaModel,
  { file, contextSize, parallel }: SequencePoolOptions,
): Promise<LlamaContext> {
  for (let sequences = parallel; ; sequences = Math.floor(sequences / 2))
    try {
      if (contextSize !== undefined) assertMemory(model, contextSize * sequences);
      return await model.createContext({
        sequences,
        contextSize: contextSize ?? { max: defaultContextSize },
      });
    } catch (cause) {
      const isMemory =
        cause instanceof InsufficientMemoryError || /memory|alloc|context/i.test(String(cause));
      if (!isMemory) throw cause;
      if (sequences <= 1) throw createMemoryError(file, cause);
    }
}

/** The library knows the memory of the machine, but not the limit of a container. */
function assertMemory(model: LlamaModel, tokens: number): void {
  const needed = estimateContextBytes(model) * tokens;
  if (needed > process.availableMemory())
    throw new RangeError(`The context needs ${needed} bytes of memory.`);
}

/** A key and a value of 16-bit numbers per layer. Returns 0 if the file does not have the sizes. */
function estimateContextBytes({ fileInfo }: LlamaModel): number {
  const { attention, block_count: layers, embedding_length: width } = fileInfo.architectureMetadata;
  const heads = toLargest(attention?.head_count);
  const size = Number(attention?.key_length ?? Number(width) / heads);
  const bytes = 2 * 2 * Number(layers) * size * toLargest(attention?.head_count_kv ?? heads);
  return Number.isFinite(bytes) ? bytes : 0;
}

/** Some models have a value per layer. */
const toLargest = (values: unknown): number => Math.max(...[values].flat().map(Number));

import type { Result } from "capstan";
import type { EphemeralSegment } from "../../runs/ephemeral-runs.ts";
import {
  type CompletionCollector,
  type CompletionEnding,
  type CompletionInfo,
  computeEnding,
  formatUsage,
} from "./completion.ts";

export type CompletionStreamOptions = {
  readonly info: CompletionInfo;
  readonly segment: EphemeralSegment;
  readonly collector: CompletionCollector;
  readonly includeUsage: boolean;
  /** Formats the error body of a failed run. */
  formatFailure(cause: { readonly result: Result } | { readonly thrown: unknown }): object;
};

/**
 * Yields the chunks of a completion: the role first, the finish reason and log probabilities last, then usage if requested, then `[DONE]`.
 * A failed completion ends with an error instead. Text of a restarted message stays, and the new text follows after
 * an empty line, because this API cannot take text back.
 */
export async function* streamCompletion(
  options: CompletionStreamOptions,
): AsyncGenerator<string, void, undefined> {
  const { info, segment, collector, includeUsage, formatFailure: failure } = options;
  const formatChunk = (delta: object, finish: CompletionEnding["finish"] | null = null) =>
    formatDataFrame({
      ...buildChunkHead(info),
      choices: [{ index: 0, delta, logprobs: finish && collector.getLogprobs(), finish_reason: finish }],
      ...(includeUsage && { usage: null }),
    });
  try {
    yield formatChunk({ role: "assistant", content: "" });
    for await (const event of segment.events) {
      const delta = collector.add(event);
      if (delta) yield formatChunk(delta);
    }
    const result = await segment.result;
    const ending = computeEnding(result, collector, segment.declared);
    if (!ending) return yield formatDataFrame(failure({ result }));
    if (ending.missingText) yield formatChunk({ content: ending.missingText });
    for (const [index, call] of ending.calls.entries())
      yield formatChunk({ tool_calls: [{ index, ...call }] });
    yield formatChunk({}, ending.finish);
    if (includeUsage)
      yield formatDataFrame({
        ...buildChunkHead(info),
        choices: [],
        usage: formatUsage(collector.getUsage()),
      });
    yield "data: [DONE]\n\n";
  } catch (thrown) {
    yield formatDataFrame(failure({ thrown }));
  }
}

function buildChunkHead({ id, created, model }: CompletionInfo): object {
  return { id, object: "chat.completion.chunk", created, model };
}

function formatDataFrame(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

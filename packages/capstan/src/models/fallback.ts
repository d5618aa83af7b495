import { AgentError, describeThrown, type ErrorCode } from "../errors.ts";
import type { Chunk, Finish, Model } from "../model.ts";

export type FallbackOptions = {
  /**
   * Outcomes besides failures that try the next model: `content_filter` (the answer was filtered),
   * `output_truncated` (the output limit was reached), `model_failed` (it stopped for an unknown reason).
   */
  readonly on?: readonly ErrorCode[];
};

/**
 * Tries the models in order until one answers. A model fails when it throws, when its stream ends without a `finish`,
 * or when it returns neither text nor a call. A `restart` discards the output of a failed attempt, so none of its
 * calls run. If all models fail, throws the last error.
 */
export function fallback(models: readonly Model[], options: FallbackOptions = {}): Model {
  if (models.length === 0)
    throw new AgentError("invalid_definition", "fallback([]) needs at least one model.");
  const rejectedCodes = new Set<ErrorCode>(options.on);
  return {
    id: models.map(({ id }) => id).join(" | "),
    async *stream(request, { signal }) {
      let failed: { readonly thrown: unknown; readonly hasSpoken: boolean } | undefined;
      for (const model of models) {
        if (failed?.hasSpoken) yield [createRestart(failed.thrown)];
        signal.throwIfAborted();
        const attempt: Attempt = { hasOutput: false, hasAnswer: false, finish: undefined };
        try {
          for await (const batch of model.stream(request, { signal })) {
            for (const chunk of batch) recordChunk(attempt, chunk);
            assertAcceptable(attempt, rejectedCodes);
            attempt.hasOutput ||= batch.length > 0;
            yield batch;
          }
          assertAnswered(attempt, model.id);
          return;
        } catch (thrown) {
          if (signal.aborted) throw thrown;
          failed = { thrown, hasSpoken: attempt.hasOutput };
        }
      }
      throw failed?.thrown;
    },
  };
}

type Attempt = { hasOutput: boolean; hasAnswer: boolean; finish: Finish | undefined };

function recordChunk(attempt: Attempt, chunk: Chunk): void {
  if (chunk.type === "restart") {
    attempt.hasAnswer = false;
    attempt.finish = undefined;
  } else if (chunk.type === "finish") attempt.finish = chunk.reason;
  else if (chunk.type === "text") attempt.hasAnswer ||= chunk.text.trim() !== "";
  else if (chunk.type === "call_start" || chunk.type === "call_delta") attempt.hasAnswer = true;
}

const finishCodes: Partial<Record<Finish, ErrorCode>> = {
  content_filter: "content_filter",
  length: "output_truncated",
  other: "model_failed",
};

/** Called before the batch is yielded, so that a reader never sees the finish of an answer that is then replaced. */
function assertAcceptable({ finish }: Attempt, rejectedCodes: ReadonlySet<ErrorCode>): void {
  const code = finish && finishCodes[finish];
  if (code && rejectedCodes.has(code))
    throw new AgentError(code, `The model's answer ended with "${finish}".`);
}

function assertAnswered({ finish, hasAnswer }: Attempt, id: string): void {
  if (finish === undefined) throw new AgentError("stream_truncated", `The response of ${id} ended early.`);
  // A filtered answer may be empty.
  if (!hasAnswer && finish !== "content_filter")
    throw new AgentError("empty_response", `${id} returned neither text nor a tool call.`);
}

function createRestart(thrown: unknown): Chunk {
  return { type: "restart", reason: describeThrown(thrown, "model_failed").code };
}

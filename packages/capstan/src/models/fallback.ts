import { AgentError, describeThrown, type ErrorCode } from "../errors.ts";
import type { Chunk, Finish, Model } from "../model.ts";

export type FallbackOptions = {
  /**
   * What asks the next model although it is no failure: `content_filter` (the answer was filtered),
   * `output_truncated` (the output limit was reached), `model_failed` (it stopped for an unknown reason).
   * Every failure does so anyway.
   */
  readonly on?: readonly ErrorCode[];
};

/**
 * Models asked in this order until one answers. A model fails when it throws anything, when its stream ends without
 * a `finish`, and when it says neither text nor a call. What a lost attempt had shown is made void by a `restart`, so
 * none of its calls run. When all fail, the last failure is thrown.
 */
export function fallback(models: readonly Model[], options: FallbackOptions = {}): Model {
  if (models.length === 0)
    throw new AgentError("invalid_definition", "fallback([]) has no model to ask: give at least one.");
  const unwanted = new Set<ErrorCode>(options.on);
  return {
    id: models.map(({ id }) => id).join(" | "),
    async *stream(request, { signal }) {
      let failed: { readonly thrown: unknown; readonly hasSpoken: boolean } | undefined;
      for (const model of models) {
        if (failed?.hasSpoken) yield [restartAfter(failed.thrown)];
        signal.throwIfAborted();
        const attempt: Attempt = { hasSpoken: false, hasAnswer: false, finish: undefined };
        try {
          for await (const batch of model.stream(request, { signal })) {
            for (const chunk of batch) note(attempt, chunk);
            assertWanted(attempt, unwanted);
            attempt.hasSpoken ||= batch.length > 0;
            yield batch;
          }
          assertAnswered(attempt, model.id);
          return;
        } catch (thrown) {
          if (signal.aborted) throw thrown;
          failed = { thrown, hasSpoken: attempt.hasSpoken };
        }
      }
      throw failed?.thrown;
    },
  };
}

type Attempt = { hasSpoken: boolean; hasAnswer: boolean; finish: Finish | undefined };

function note(attempt: Attempt, chunk: Chunk): void {
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

/** Before the end is told, so that nobody takes an answer for final that the next model replaces. */
function assertWanted({ finish }: Attempt, unwanted: ReadonlySet<ErrorCode>): void {
  const code = finish && finishCodes[finish];
  if (code && unwanted.has(code)) throw new AgentError(code, `The model's answer ended with "${finish}".`);
}

function assertAnswered({ finish, hasAnswer }: Attempt, id: string): void {
  if (finish === undefined)
    throw new AgentError("stream_truncated", `The answer of ${id} broke off before its end.`);
  // A filtered answer may be empty: that is what the filter does.
  if (!hasAnswer && finish !== "content_filter")
    throw new AgentError("empty_response", `${id} gave neither text nor a tool call.`);
}

function restartAfter(thrown: unknown): Chunk {
  return { type: "restart", reason: describeThrown(thrown, "model_failed").code };
}

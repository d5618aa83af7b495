import { AgentError, describeThrown, type ErrorCode } from "../base/errors.ts";
import { type Chunk, findAnswerProblem, type Model, type StopReason, toStopReason } from "../kernel/model.ts";

export type FallbackOptions = {
  /**
   * Outcomes besides failures that try the next model: `content_filter` (the answer was filtered or refused),
   * `output_truncated` (the output limit was reached).
   */
  readonly on?: readonly ErrorCode[];
};

/**
 * Tries the models in order until one answers. A model fails when it throws or when its answer is not whole: without a
 * `finish`, with the reason `other`, or with neither text nor a call. A `restart` discards the output of a failed attempt, so none of its
 * calls run. If all models fail, throws the last error.
 */
export function fallback(models: readonly Model[], { on = [] }: FallbackOptions = {}): Model {
  if (models.length === 0)
    throw new AgentError("invalid_definition", "fallback([]) needs at least one model.");
  const rejectedCodes = new Set<ErrorCode>(on);
  return {
    id: models.map(({ id }) => id).join(" | "),
    checkSettings: (settings) => models.flatMap((model) => model.checkSettings?.(settings) ?? []),
    acceptsMedia: (part) => models.every((model) => model.acceptsMedia?.(part) ?? true),
    checkHosted: (request) => models.flatMap((model) => model.checkHosted?.(request) ?? []),
    async *stream(request, options) {
      const { signal } = options;
      let failed:
        | { readonly thrown: unknown; readonly model: string; readonly hasSpoken: boolean }
        | undefined;
      for (const model of models) {
        if (failed?.hasSpoken) yield [createRestart(failed.thrown, failed.model)];
        signal.throwIfAborted();
        const attempt = createAttempt();
        try {
          for await (const batch of model.stream(request, options)) {
            for (const chunk of batch) recordChunk(attempt, chunk);
            assertAcceptable(attempt, rejectedCodes);
            attempt.hasOutput ||= batch.length > 0;
            yield batch;
          }
          assertAnswered(attempt);
          return;
        } catch (thrown) {
          if (signal.aborted) throw thrown;
          failed = { thrown, model: model.id, hasSpoken: attempt.hasOutput };
        }
      }
      throw failed?.thrown;
    },
  };
}

type Attempt = {
  hasOutput: boolean;
  hasText: boolean;
  hasCalls: boolean;
  stopReason: StopReason | undefined;
  detail: string | undefined;
};

const createAttempt = (): Attempt => ({
  hasOutput: false,
  hasText: false,
  hasCalls: false,
  stopReason: undefined,
  detail: undefined,
});

function recordChunk(attempt: Attempt, chunk: Chunk): void {
  if (chunk.type === "restart") Object.assign(attempt, createAttempt(), { hasOutput: attempt.hasOutput });
  else if (chunk.type === "finish") {
    attempt.stopReason = toStopReason(chunk.reason);
    attempt.detail = chunk.detail;
  } else if (chunk.type === "text") attempt.hasText ||= chunk.text.trim() !== "";
  else if (chunk.type === "media") attempt.hasText = true;
  else if (chunk.type === "call_start" || chunk.type === "call_delta") attempt.hasCalls = true;
}

const rejectableReasons: Partial<Record<StopReason, ErrorCode>> = {
  content_filter: "content_filter",
  refusal: "content_filter",
  length: "output_truncated",
};

/** Called before the batch is yielded, so that a reader never sees the end of an answer that is then replaced. */
function assertAcceptable(attempt: Attempt, rejectedCodes: ReadonlySet<ErrorCode>): void {
  const { stopReason } = attempt;
  if (stopReason === "other") assertAnswered(attempt);
  const code = stopReason && rejectableReasons[stopReason];
  if (code && rejectedCodes.has(code))
    throw new AgentError(code, `The model's answer ended with "${stopReason}".`);
}

/** An answer cut at the output limit is left to the runtime, which asks for it again with more room. */
function assertAnswered(attempt: Attempt): void {
  const problem = findAnswerProblem(attempt);
  if (problem && problem.code !== "output_truncated") throw new AgentError(problem.code, problem.message);
}

function createRestart(thrown: unknown, model: string): Chunk {
  return { type: "restart", reason: describeThrown(thrown, "model_failed").code, model };
}

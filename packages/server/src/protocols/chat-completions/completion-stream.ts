import type { Result } from "capstan";
import type { PassingLeg } from "../../runs/ephemeral-runs.ts";
import { type CompletionInfo, type Ending, endingOf, type Said, usageOf } from "./completion.ts";

/** How an answer is streamed. */
export type CompletionStream = {
  readonly info: CompletionInfo;
  readonly leg: PassingLeg;
  readonly told: Said;
  readonly includeUsage: boolean;
  /** What a client is told when it failed: the body of an error. */
  failure(cause: { readonly result: Result } | { readonly thrown: unknown }): object;
};

/**
 * The chunks of an answer: the first has the role, the last one the reason why it ended, then comes the usage if it was
 * asked for, then `[DONE]`. An answer that failed ends with an error instead. When a model begins a message anew, what was
 * shown of it stays, and the new words follow behind an empty line: this API has no way to take text back.
 */
export async function* completionStream(options: CompletionStream): AsyncGenerator<string, void, undefined> {
  const { info, leg, told, includeUsage, failure } = options;
  const chunk = (delta: object, finish: Ending["finish"] | null = null) =>
    frame({ ...head(info), choices: [choice(delta, finish)], ...(includeUsage && { usage: null }) });
  try {
    yield chunk({ role: "assistant", content: "" });
    for await (const event of leg.events) {
      const delta = told.hear(event);
      if (delta) yield chunk(delta);
    }
    const result = await leg.result;
    const ending = endingOf(result, told, leg.declared);
    if (!ending) return yield frame(failure({ result }));
    if (ending.rest) yield chunk({ content: ending.rest });
    for (const [index, call] of ending.calls.entries()) yield chunk({ tool_calls: [{ index, ...call }] });
    yield chunk({}, ending.finish);
    if (includeUsage) yield frame({ ...head(info), choices: [], usage: usageOf(told.usage()) });
    yield "data: [DONE]\n\n";
  } catch (thrown) {
    yield frame(failure({ thrown }));
  }
}

function head({ id, created, model }: CompletionInfo): object {
  return { id, object: "chat.completion.chunk", created, model };
}

function choice(delta: object, finish: Ending["finish"] | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finish };
}

function frame(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

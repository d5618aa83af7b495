import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import type { Entry } from "../kernel/history.ts";
import { findHostedProblems } from "../kernel/hosted-support.ts";
import type { Chunk, Model, StopReason, ToolSpec, Usage } from "../kernel/model.ts";
import type { ModelSettings, ToolChoice } from "../kernel/settings/settings.ts";

/** The result of one `generate` call. May contain text, calls or both. */
export type Generated = {
  readonly text?: string | null;
  readonly toolCalls?:
    | readonly { readonly name: string; readonly args?: Json; readonly id?: string }[]
    | null;
  /** Estimated if missing. */
  readonly usage?: Usage;
  /** Why the model stopped. Default: `tool_calls` with calls, `end` without. */
  readonly stopReason?: StopReason;
};

export type GenerateOptions = {
  readonly signal: AbortSignal;
  readonly toolChoice: ToolChoice;
  /** Set by the agent or the run. */
  readonly settings?: ModelSettings;
};

// biome-ignore lint/complexity/useMaxParams: the first three match the signature of existing clients
export type Generate = (
  messages: readonly Entry[],
  tools: readonly ToolSpec[],
  instructions: string,
  options: GenerateOptions,
) => Promise<Generated> | Generated;

/** Creates a model from a function or from a client with a `generate` method. */
export function fromGenerate(client: Generate | { readonly generate: Generate }, id = "generate"): Model {
  return {
    id,
    checkHosted: (request) => findHostedProblems([], id, request),
    async *stream({ history, tools, instructions, toolChoice, settings }, { signal }) {
      const options = { signal, toolChoice, ...(settings && { settings }) };
      // Called as a method, so that `this` is the client.
      const generated = await (typeof client === "function"
        ? client([...history], tools, instructions, options)
        : client.generate([...history], tools, instructions, options));
      yield toChunks(generated);
    },
  };
}

function toChunks(generated: unknown): Chunk[] {
  if (!isRecord(generated))
    throw new AgentError("model_failed", "generate must return { text, toolCalls }.", { retryable: false });
  const { text, toolCalls, usage, stopReason } = generated as Generated;
  const chunks: Chunk[] = [];
  if (text) chunks.push({ type: "text", text });
  for (const [index, { id, name, args }] of (toolCalls ?? []).entries()) {
    chunks.push({ type: "call_start", index, name, ...(id !== undefined && { id }) });
    chunks.push({ type: "call_delta", index, text: args === undefined ? "" : JSON.stringify(args) });
  }
  if (usage) chunks.push({ type: "usage", usage });
  const reason = stopReason ?? (toolCalls && toolCalls.length > 0 ? "tool_calls" : "end");
  chunks.push({ type: "finish", reason });
  return chunks;
}

import { AgentError } from "../errors.ts";
import type { Entry } from "../history.ts";
import { isRecord, type Json } from "../json.ts";
import type { Chunk, Model, ToolSpec, Usage } from "../model.ts";

/** What one call of a `generate` function gives back. Calls win over text; both may be there. */
export type Generated = {
  readonly text?: string | null;
  readonly toolCalls?:
    | readonly { readonly name: string; readonly args?: Json; readonly id?: string }[]
    | null;
  /** Left out: it is estimated. */
  readonly usage?: Usage;
};

// biome-ignore lint/complexity/useMaxParams: the first three are the shape such clients have
export type Generate = (
  messages: readonly Entry[],
  tools: readonly ToolSpec[],
  instructions: string,
  options: { readonly signal: AbortSignal },
) => Promise<Generated> | Generated;

/** A model from one function, or from a client with one `generate` method: the shortest way to bring your own. */
export function fromGenerate(client: Generate | { readonly generate: Generate }, id = "generate"): Model {
  return {
    id,
    async *stream({ history, tools, instructions }, options) {
      // Called as a method, so that a client may use its own fields.
      const generated = await (typeof client === "function"
        ? client([...history], tools, instructions, options)
        : client.generate([...history], tools, instructions, options));
      yield chunksOf(generated);
    },
  };
}

function chunksOf(generated: unknown): Chunk[] {
  if (!isRecord(generated))
    throw new AgentError("model_failed", "generate must return { text, toolCalls }.", { retryable: false });
  const { text, toolCalls, usage } = generated as Generated;
  const chunks: Chunk[] = [];
  if (text) chunks.push({ type: "text", text });
  for (const [index, { id, name, args }] of (toolCalls ?? []).entries()) {
    chunks.push({ type: "call_start", index, name, ...(id !== undefined && { id }) });
    chunks.push({ type: "call_delta", index, text: args === undefined ? "" : JSON.stringify(args) });
  }
  if (usage) chunks.push({ type: "usage", usage });
  chunks.push({ type: "finish", reason: toolCalls && toolCalls.length > 0 ? "tool_calls" : "stop" });
  return chunks;
}

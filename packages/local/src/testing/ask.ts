import type { Chunk, Model, ModelRequest } from "capstan";

/** The parts of an answer. */
export type Answered = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly text: string }[];
  readonly chunks: readonly Chunk[];
  readonly finish: string | undefined;
  readonly usage: Extract<Chunk, { type: "usage" }>["usage"] | undefined;
};

/** Sends a request to a model and collects the answer. */
export async function ask(
  model: Model,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Answered> {
  const chunks: Chunk[] = [];
  const complete: ModelRequest = {
    instructions: "Be brief.",
    history: [{ type: "user", content: "Hello" }],
    tools: [],
    toolChoice: "auto",
    thinking: false,
    ...request,
  };
  for await (const batch of model.stream(complete, { signal })) chunks.push(...batch);
  return summarize(chunks);
}

export function summarize(chunks: readonly Chunk[]): Answered {
  const join = (type: "text" | "reasoning") =>
    chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");
  const calls: { name: string; text: string }[] = [];
  for (const chunk of chunks) {
    if (chunk.type === "call_start") calls[chunk.index] = { name: chunk.name, text: "" };
    const call = chunk.type === "call_delta" ? calls[chunk.index] : undefined;
    if (call && chunk.type === "call_delta") call.text += chunk.text;
  }
  const finish = chunks.findLast((chunk) => chunk.type === "finish");
  const usage = chunks.findLast((chunk) => chunk.type === "usage");
  return {
    text: join("text"),
    reasoning: join("reasoning"),
    calls,
    chunks,
    finish: finish?.type === "finish" ? finish.reason : undefined,
    usage: usage?.type === "usage" ? usage.usage : undefined,
  };
}

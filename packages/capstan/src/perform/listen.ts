import type { DeltaBody } from "../event.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { addChunk, type MessageBuilder } from "./assemble.ts";
import type { CitationFilter } from "./citations/citing.ts";

/** A model that is being listened to: what it has said so far, and where that is told. */
export type StreamContext = {
  readonly model: Model;
  readonly message: MessageBuilder;
  readonly citing?: CitationFilter | undefined;
  emit(delta: DeltaBody): void;
};

/** Sends the request and hears the answer to its end. */
export async function readModelStream(
  listening: StreamContext,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const reader = listening.model.stream(request, { signal })[Symbol.asyncIterator]();
  const stopReading = () => {
    Promise.resolve(reader.return?.()).catch(() => undefined); // not awaited: a stream that hangs would hang here too
  };
  signal.addEventListener("abort", stopReading, { once: true });
  try {
    for (;;) {
      const read = await reader.next();
      signal.throwIfAborted();
      if (read.done) return;
      handleChunks(read.value, listening);
    }
  } finally {
    signal.removeEventListener("abort", stopReading);
  }
}

/** A delta that still grows. */
type OpenDelta = Extract<DeltaBody, { delta: string }> & { delta: string };

/** Adds what one read said to the message and tells it, with neighbouring pieces of the same kind made one. */
function handleChunks(batch: readonly Chunk[], { message, citing, emit }: StreamContext): void {
  let open: OpenDelta | undefined;
  for (const chunk of citing ? batch.flatMap(citing.filter) : batch) {
    addChunk(message, chunk);
    const piece = toDelta(chunk, message);
    if (open && piece && open.type === piece.type && getCallId(open) === getCallId(piece)) {
      open.delta += piece.delta;
    } else if (piece || chunk.type === "restart") {
      if (open) emit(open);
      open = piece;
    }
    if (chunk.type === "restart") emit({ type: "message_restart", reason: chunk.reason });
  }
  if (open) emit(open);
  for (const citation of citing?.startMessage() ?? []) emit(citation);
}

function toDelta(chunk: Chunk, message: MessageBuilder): OpenDelta | undefined {
  if (chunk.type === "text" && chunk.text) return { type: "content_delta", delta: chunk.text };
  if (chunk.type === "reasoning" && chunk.text) return { type: "reasoning_delta", delta: chunk.text };
  if (chunk.type !== "call_start" && chunk.type !== "call_delta") return undefined;
  const call = message.calls.get(chunk.index);
  const delta = chunk.type === "call_delta" ? chunk.text : "";
  return call && { type: "tool_call_delta", id: call.id, name: call.name, delta };
}

function getCallId(piece: OpenDelta): string | undefined {
  return piece.type === "tool_call_delta" ? piece.id : undefined;
}

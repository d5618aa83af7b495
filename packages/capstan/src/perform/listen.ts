import type { DeltaBody } from "../event.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { type Assembly, addChunk } from "./assemble.ts";
import type { Citing } from "./citations/citing.ts";

/** A model that is being listened to: what it has said so far, and where that is told. */
export type Listening = {
  readonly model: Model;
  readonly message: Assembly;
  readonly citing?: Citing | undefined;
  emit(delta: DeltaBody): void;
};

/** Sends the request and hears the answer to its end. */
export async function listen(
  listening: Listening,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const reader = listening.model.stream(request, { signal })[Symbol.asyncIterator]();
  const leave = () => {
    Promise.resolve(reader.return?.()).catch(() => undefined); // not awaited: a stream that hangs would hang here too
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    for (;;) {
      const read = await reader.next();
      signal.throwIfAborted();
      if (read.done) return;
      hear(read.value, listening);
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** A delta that still grows. */
type Piece = Extract<DeltaBody, { delta: string }> & { delta: string };

/** Adds what one read said to the message and tells it, with neighbouring pieces of the same kind made one. */
function hear(batch: readonly Chunk[], { message, citing, emit }: Listening): void {
  let open: Piece | undefined;
  for (const chunk of citing ? batch.flatMap(citing.pass) : batch) {
    addChunk(message, chunk);
    const piece = pieceOf(chunk, message);
    if (open && piece && open.type === piece.type && callOf(open) === callOf(piece)) {
      open.delta += piece.delta;
    } else if (piece || chunk.type === "restart") {
      if (open) emit(open);
      open = piece;
    }
    if (chunk.type === "restart") emit({ type: "message_restart", reason: chunk.reason });
  }
  if (open) emit(open);
  for (const citation of citing?.fresh() ?? []) emit(citation);
}

function pieceOf(chunk: Chunk, message: Assembly): Piece | undefined {
  if (chunk.type === "text" && chunk.text) return { type: "content_delta", delta: chunk.text };
  if (chunk.type === "reasoning" && chunk.text) return { type: "reasoning_delta", delta: chunk.text };
  if (chunk.type !== "call_start" && chunk.type !== "call_delta") return undefined;
  const call = message.calls.get(chunk.index);
  const delta = chunk.type === "call_delta" ? chunk.text : "";
  return call && { type: "tool_call_delta", id: call.id, name: call.name, delta };
}

function callOf(piece: Piece): string | undefined {
  return piece.type === "tool_call_delta" ? piece.id : undefined;
}

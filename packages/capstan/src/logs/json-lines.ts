import { describeThrown } from "../errors.ts";
import { type Delta, type Event, isFact } from "../event.ts";
import { jsonText, type Mask } from "./json-text.ts";
import { type MaskedStream, maskedStreams, maskWith } from "./mask-secrets.ts";

export type JsonLinesOptions = {
  /** Whether deltas are written too; by default facts alone. */
  readonly deltas?: boolean;
  /** Masked wherever they occur, see `maskSecrets`. */
  readonly secrets?: readonly string[];
};

/**
 * A sink for `hooks.onEvent`: every event as one line of JSON. `write` gets whole lines, each with its line end; what
 * it throws goes to the run, which then warns once and goes on without this sink.
 */
export function jsonLines(
  write: (line: string) => void,
  { deltas = false, secrets = [] }: JsonLinesOptions = {},
): (event: Event) => void {
  const newStream = maskedStreams(secrets);
  const mask = secrets.length > 0 ? maskWith(newStream) : undefined;
  const maskPiece = maskedPieces(newStream);
  const writeEvent = (event: Event) => write(`${lineOf(event, mask)}\n`);
  return (event) => {
    if (!isFact(event) && !deltas) return;
    if (isPiece(event)) {
      const shown = maskPiece(event);
      if (shown) writeEvent(shown);
      return;
    }
    if (isFact(event) || event.type === "message_restart")
      for (const rest of maskPiece.end(event.runId)) writeEvent(rest);
    writeEvent(event);
  };
}

function lineOf(event: Event, mask: Mask | undefined): string {
  try {
    return jsonText(event, mask);
  } catch (thrown) {
    // Progress of a tool may be anything; a fact has been stored as JSON.
    const { type, runId, sessionId, agent, turn } = event;
    const problem = `This event is not JSON: ${describeThrown(thrown, "result_invalid").message}`;
    return jsonText({ type, runId, sessionId, agent, turn, problem }, mask);
  }
}

/** A delta that is a piece of a longer text. */
type Piece = Extract<Delta, { readonly delta: string }>;

function isPiece(event: Event): event is Piece {
  return "delta" in event;
}

/** A secret may be spread over several pieces, so those of one text are masked as one. */
interface MaskedPieces {
  /** The piece with what can be shown by now, or nothing when all of it is held back. */
  (piece: Piece): Piece | undefined;
  /** What was held back of a run's texts, which are over. */
  end(runId: string): readonly Piece[];
}

function maskedPieces(newStream: () => MaskedStream): MaskedPieces {
  const runs = new Map<string, Map<string, { stream: MaskedStream; last: Piece }>>();
  const maskPiece = (piece: Piece): Piece | undefined => {
    const texts = runs.get(piece.runId) ?? new Map();
    const name = piece.type === "tool_call_delta" ? `${piece.type}/${piece.id}` : piece.type;
    const { stream } = texts.get(name) ?? { stream: newStream() };
    texts.set(name, { stream, last: piece });
    runs.set(piece.runId, texts);
    const delta = stream.push(piece.delta);
    // An empty piece says that a call has begun.
    return delta || !piece.delta ? { ...piece, delta } : undefined;
  };
  const end = (runId: string): readonly Piece[] => {
    const texts = [...(runs.get(runId)?.values() ?? [])];
    runs.delete(runId);
    return texts.flatMap(({ stream, last }) => {
      const delta = stream.end();
      return delta ? [{ ...last, delta }] : [];
    });
  };
  return Object.assign(maskPiece, { end });
}

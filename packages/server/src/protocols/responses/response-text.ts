import type { AssistantEntry } from "capstan";
import type { RunLeg } from "./ids.ts";
import type { ResponseOutput, SaidText } from "./response-output.ts";

type Kind = SaidText["kind"];

/** What the model says and thinks, message by message. */
export interface Speech {
  speak(kind: Kind, delta: string, turn: number): void;
  /** Something else came between: what is said from here on is another item. */
  pause(): void;
  /** The message is whole: what was shown of it is made to say the same. */
  settle(entry: AssistantEntry, turn: number): void;
  /** What was shown of the message is void. */
  withdraw(): void;
  /** What no message has said, as the last words. */
  add(text: string): void;
}

type SpeechOptions = {
  readonly place: RunLeg;
  readonly output: ResponseOutput;
  /** Of an answer that must have a form, only the answer itself is for the client, and only when it is whole. */
  readonly isFormed: boolean;
};

/** Nothing said yet. */
export function speechOf({ place, output, isFormed }: SpeechOptions): Speech {
  /** Of the message that is being said, in order; only the last one may be open. */
  let shown: SaidText[] = [];
  const counts = new Map<string, number>();

  function begin(kind: Kind, where: string): SaidText {
    const count = (counts.get(where) ?? 0) + 1;
    counts.set(where, count);
    const id = `${place.runId}_${where}_${count}`;
    const text = kind === "text" ? output.text(`msg_${id}`) : output.reasoning(`rs_${id}`);
    shown.push(text);
    return text;
  }
  function drop(from: number): void {
    for (const text of shown.splice(from)) text.withdraw();
  }

  return {
    speak(kind, delta, turn) {
      if (!delta || (isFormed && kind === "text")) return;
      const last = shown.at(-1);
      if (last?.kind === kind && last.isOpen()) return last.append(delta);
      last?.end();
      begin(kind, `${turn}`).append(delta);
    },
    pause: () => shown.at(-1)?.end(),
    settle(entry, turn) {
      const wanted = piecesOf(entry).filter(({ kind }) => !isFormed || kind === "reasoning");
      const good = shown.findIndex((text, index) => !isBeginning(text, wanted[index]));
      drop(good === -1 ? shown.length : good);
      for (const [index, { kind, text }] of wanted.entries()) {
        const piece = shown[index] ?? begin(kind, `${turn}`);
        const rest = text.slice(piece.text().length);
        if (rest) piece.append(rest);
        piece.end();
      }
      shown = [];
    },
    withdraw: () => drop(0),
    add(text) {
      if (!text) return;
      const piece = begin("text", `end${place.leg}`);
      piece.append(text);
      piece.end();
      shown = [];
    },
  };
}

type Piece = { readonly kind: Kind; readonly text: string };

function isBeginning(shown: SaidText, piece: Piece | undefined): boolean {
  if (piece?.kind !== shown.kind) return false;
  return shown.isOpen() ? piece.text.startsWith(shown.text()) : piece.text === shown.text();
}

/** The parts of a message as they were streamed: what follows on the same is one piece, unless a call is between. */
function piecesOf({ parts }: AssistantEntry): readonly Piece[] {
  const pieces: { kind: Kind; text: string }[] = [];
  let isBroken = true;
  for (const part of parts) {
    if (part.type === "call") isBroken = true;
    if (part.type !== "text" && part.type !== "reasoning") continue;
    const last = pieces.at(-1);
    if (!part.text) continue;
    if (last?.kind === part.type && !isBroken) last.text += part.text;
    else pieces.push({ kind: part.type, text: part.text });
    isBroken = false;
  }
  return pieces;
}

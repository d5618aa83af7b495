import type { AssistantEntry, Fact } from "capstan";
import { formatLogprobs } from "../openai-settings.ts";
import type { RunSegment } from "./ids.ts";
import type { OutputText, ResponseOutput } from "./response-output.ts";

type Kind = OutputText["kind"];
type MessageFact = Extract<Fact, { readonly type: "message" }>;

/** Writes text and reasoning items, message by message. */
export interface TextWriter {
  append(kind: Kind, delta: string, turn: number): void;
  /** Ends the current item; later text starts another one. */
  endItem(): void;
  /** Completes a message: adds missing text and withdraws items that differ from it. The last text gets the logprobs. */
  complete(message: Pick<MessageFact, "entry" | "turn" | "logprobs">): void;
  /** Withdraws the items of the current message. */
  withdraw(): void;
  /** Adds text that no message contains. */
  addFinalText(text: string): void;
}

type TextWriterOptions = {
  readonly place: RunSegment;
  readonly output: ResponseOutput;
  /** With an output schema, only the complete final answer is sent. */
  readonly isFormed: boolean;
};

export function createTextWriter({ place, output, isFormed }: TextWriterOptions): TextWriter {
  /** Items of the current message; only the last one may be open. */
  let shown: OutputText[] = [];
  const counts = new Map<string, number>();

  function startText(kind: Kind, where: string): OutputText {
    const count = (counts.get(where) ?? 0) + 1;
    counts.set(where, count);
    const id = `${place.runId}_${where}_${count}`;
    const text = kind === "text" ? output.addText(`msg_${id}`) : output.addReasoning(`rs_${id}`);
    shown.push(text);
    return text;
  }
  function withdrawFrom(from: number): void {
    for (const text of shown.splice(from)) text.withdraw();
  }

  return {
    append(kind, delta, turn) {
      if (!delta || (isFormed && kind === "text")) return;
      const last = shown.at(-1);
      if (last?.kind === kind && last.isOpen()) return last.append(delta);
      last?.endText();
      startText(kind, `${turn}`).append(delta);
    },
    endItem: () => shown.at(-1)?.endText(),
    complete({ entry, turn, logprobs = [] }) {
      const wanted = splitPieces(entry).filter(({ kind }) => !isFormed || kind === "reasoning");
      const good = shown.findIndex((text, index) => !isPrefix(text, wanted[index]));
      withdrawFrom(good === -1 ? shown.length : good);
      const lastText = wanted.findLastIndex(({ kind }) => kind === "text");
      for (const [index, { kind, text }] of wanted.entries()) {
        const piece = shown[index] ?? startText(kind, `${turn}`);
        const rest = text.slice(piece.getText().length);
        if (rest) piece.append(rest);
        piece.endText(index === lastText ? formatLogprobs(logprobs) : []);
      }
      shown = [];
    },
    withdraw: () => withdrawFrom(0),
    addFinalText(text) {
      if (!text) return;
      const piece = startText("text", `end${place.segment}`);
      piece.append(text);
      piece.endText();
      shown = [];
    },
  };
}

type TextPiece = { readonly kind: Kind; readonly text: string };

function isPrefix(shown: OutputText, piece: TextPiece | undefined): boolean {
  if (piece?.kind !== shown.kind) return false;
  return shown.isOpen() ? piece.text.startsWith(shown.getText()) : piece.text === shown.getText();
}

/**
 * Splits a message into items as they were streamed: adjacent parts of a kind are joined unless a call separates
 * them.
 */
function splitPieces({ parts }: AssistantEntry): readonly TextPiece[] {
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
